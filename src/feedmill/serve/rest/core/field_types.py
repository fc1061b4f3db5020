"""Field types that request bodies share: bounded, strict and storable in every database."""

from datetime import datetime
from typing import Annotated

from fastapi import Path
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from feedmill.model.ids import MAX_ID


def _require_text(given: object) -> object:
    if not isinstance(given, str | datetime):
        raise ValueError("a time is text, such as 2026-02-18T08:30:00Z")
    return given


class RequestBody(BaseModel):
    """The base of every JSON body: an unknown field is refused, and no value is converted to another type.

    `0` is not a boolean and `"5"` is not a number. A type that JSON has no notation for (an enumeration, a time)
    says `strict=False` itself.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


# Strict: "5" is no number, 0 is no flag and no time.
StrictInt = Annotated[int, Field(strict=True)]
StrictBool = Annotated[bool, Field(strict=True)]
StrictTime = Annotated[AwareDatetime, BeforeValidator(_require_text), Field(strict=False)]
Id = Annotated[StrictInt, Field(ge=1, le=MAX_ID)]
PathId = Annotated[int, Path(ge=1, le=MAX_ID)]
# No control characters, and something besides spaces.
ShortText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=190, pattern=r"^[^\x00-\x1f\x7f]*$")
]
# Several lines; no NUL, which PostgreSQL can't hold.
LongText = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
UrlText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000, pattern=r"^[^\x00-\x20\x7f]*$")
]


class FromAttributes(BaseModel):
    """A response model that is filled from a value with attributes of the same names."""

    model_config = ConfigDict(from_attributes=True)
