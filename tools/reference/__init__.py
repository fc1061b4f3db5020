"""The pages of docs/reference, each made from the code by one file."""

MADE = "<!-- Made from the code by `make docs`; a test fails when it is out of date. -->"


def row(*cells: str) -> str:
    """A line of a table; a bar in a cell must not look like the next cell."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
