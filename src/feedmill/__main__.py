"""`python -m feedmill` is `feedmill`."""

from feedmill.cli import main

main()
