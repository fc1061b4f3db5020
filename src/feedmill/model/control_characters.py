"""Replaces control characters in text from feeds before a terminal shows it."""

import re

# Escape sequences control the terminal; directional marks disguise text.
# Tab and line feed may stay.
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def replace_control_characters(text: str) -> str:
    """Replaces the characters that would control a terminal."""
    return CONTROL_CHARACTERS.sub("�", text)
