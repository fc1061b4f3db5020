"""Field types that request bodies share: bounded, strict and storable in every database."""

from datetime import datetime
from typing import Annotated

from fastapi import Path
from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints

from feedmill.model.max_id import MAX_ID


def _require_text(given: object) -> object:
    if not isinstance(given, str | datetime):
        raise ValueError("a time must be text, such as 2026-02-18T08:30:00Z")
    return given


# Strict: "5" is not a number, 0 is neither a boolean nor a time.
StrictInt = Annotated[int, Field(strict=True)]
StrictBool = Annotated[bool, Field(strict=True)]
StrictTime = Annotated[AwareDatetime, BeforeValidator(_require_text), Field(strict=False)]
Id = Annotated[StrictInt, Field(ge=1, le=MAX_ID)]
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
