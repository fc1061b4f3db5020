"""Words of strangers, titles, texts and addresses that a feed chose, before a terminal shows them."""

import re

# ESC and its kin move the cursor, rename the window and worse; directional marks make one text pass for another.
# Tab and line feed may stay.
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """The text without the characters that would steer a terminal."""
    return STEERING.sub("�", text)
