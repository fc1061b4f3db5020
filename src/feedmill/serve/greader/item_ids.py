"""The ids of entries in the Google Reader API.

An id there is the entry's id plus 10^15, so that its decimal form has 16 digits and its hexadecimal form begins with
zeros: apps send either, with and without the long prefix, and some pad one to the length of the other.
"""

import re

OFFSET = 10**15
LONG_PREFIX = "tag:google.com,2005:reader/item/"
_HEX_LENGTH = 16
_DECIMAL = re.compile(r"[0-9]{1,19}")
_HEX = re.compile(r"[0-9a-fA-F]{1,16}")


def short_id(entry_id: int) -> str:
    """The decimal form."""
    return str(OFFSET + entry_id)


def long_id(entry_id: int) -> str:
    """The form with prefix and 16 hexadecimal digits."""
    return f"{LONG_PREFIX}{OFFSET + entry_id:016x}"


def parse_item_id(written: str) -> int | None:
    """The id of the entry that any form of an id names; None for what is no id of an entry."""
    if written.startswith(LONG_PREFIX):
        number = _number(written.removeprefix(LONG_PREFIX), base=16)
    elif len(written) == _HEX_LENGTH and (written.startswith("0") or not written.isdigit()):
        number = _number(written, base=16)
    else:
        number = _number(written, base=10)
    return number - OFFSET if number is not None and number > OFFSET else None


def _number(digits: str, base: int) -> int | None:
    is_number = (_HEX if base == 16 else _DECIMAL).fullmatch(digits)
    return int(digits, base) if is_number else None
