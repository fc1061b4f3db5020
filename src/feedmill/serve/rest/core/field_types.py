"""Field types that request bodies share: bounded, strict and storable in every database."""

import re
from datetime import datetime
from typing import Annotated

from fastapi import Path
from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints, WithJsonSchema

from feedmill.model.max_id import MAX_ID


def _require_text(given: object) -> object:
    if not isinstance(given, str | datetime):
        raise ValueError("a time must be text, such as 2026-02-18T08:30:00Z")
    return given


def _digits_to_int(given: object) -> object:
    """The number that a text of digits stands for; anything else is left to the validation."""
    is_number = isinstance(given, str) and _ID_TEXT.fullmatch(given)
    return int(given) if is_number else given  # type: ignore[call-overload]


_ID_TEXT = re.compile(r"[1-9][0-9]{0,14}")
# Strict: "5" is not a number, 0 is neither a boolean nor a time.
StrictInt = Annotated[int, Field(strict=True)]
StrictBool = Annotated[bool, Field(strict=True)]
StrictTime = Annotated[AwareDatetime, BeforeValidator(_require_text), Field(strict=False)]
# An id may also be text, as clients send it that keep ids as text.
Id = Annotated[
    StrictInt,
    Field(ge=1, le=MAX_ID),
    BeforeValidator(_digits_to_int),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MAX_ID},
                {"type": "string", "pattern": f"^{_ID_TEXT.pattern}$"},
            ]
        }
    ),
]
PathId = Annotated[int, Path(ge=1, le=MAX_ID)]
# Not empty, and without control characters.
ShortText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=190, pattern=r"^[^\x00-\x1f\x7f]*$")
]
# May have several lines, but no NUL, which PostgreSQL can't store.
LongText = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
UrlText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000, pattern=r"^[^\x00-\x20\x7f]*$")
]
