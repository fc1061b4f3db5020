"""The base of the shared responses, and how they write times."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from feedmill.model.timestamps import to_iso

# Written as the database has it: UTC, to the millisecond.
StoredTime = Annotated[
    datetime,
    PlainSerializer(to_iso, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class ResponseBody(BaseModel):
    """The base of every shared response. A client ignores fields that it does not know: a newer server may add some."""

    # Built when first used: a client uses a few of them.
    model_config = ConfigDict(frozen=True, defer_build=True)
