"""The fields that requests have in common: bounded, and of characters that every database can hold."""

from datetime import datetime
from typing import Annotated

from fastapi import Path
from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints

# D1 keeps no larger number exactly.
MOST_ID = 2**53 - 1


def _text(given: object) -> object:
    if not isinstance(given, str | datetime):
        raise ValueError("a time is text, such as 2026-02-18T08:30:00Z")
    return given


def _no_flag(given: object) -> object:
    if isinstance(given, bool):
        raise ValueError("a number is wanted, not true or false")
    return given


# In a query everything is text, so a number may be written as one; true is none all the same.
Number = Annotated[int, BeforeValidator(_no_flag)]
# Strict: "5" is no number, 0 is no flag and no time.
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Moment = Annotated[AwareDatetime, BeforeValidator(_text)]
Id = Annotated[Whole, Field(ge=1, le=MOST_ID)]
PathId = Annotated[int, Path(ge=1, le=MOST_ID)]
# No control characters, and something besides spaces.
Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=190, pattern=r"^[^\x00-\x1f\x7f]*$")
]
# Several lines; no NUL, which PostgreSQL can't hold.
Text = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
Address = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000, pattern=r"^[^\x00-\x20\x7f]*$")
]
