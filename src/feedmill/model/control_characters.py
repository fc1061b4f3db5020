"""Replaces control characters in text from feeds before a terminal shows it."""

import re

# ESC and its kin move the cursor, rename the window and worse; directional marks make one text pass for another.
# Tab and line feed may stay.
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def replace_control_characters(text: str) -> str:
    """The text without the characters that would steer a terminal."""
    return CONTROL_CHARACTERS.sub("�", text)
