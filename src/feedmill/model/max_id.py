"""The largest id."""

# D1 and JavaScript keep no larger number exactly.
MAX_ID = 2**53 - 1
