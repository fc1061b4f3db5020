"""Random secrets that people copy by hand: groups of letters and digits that do not look alike."""

from secrets import choice

# Each character is 4.95 bits.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
GROUP_LENGTH = 4


def new_readable_secret(groups: int) -> str:
    """Groups of four characters, with hyphens between them."""
    return "-".join("".join(choice(ALPHABET) for _ in range(GROUP_LENGTH)) for _ in range(groups))
