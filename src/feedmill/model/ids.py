"""The range of ids."""

# D1 and JavaScript keep no larger number exactly.
MAX_ID = 2**53 - 1
