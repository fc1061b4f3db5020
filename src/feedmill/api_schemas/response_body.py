"""The base of the shared responses, and how they write times and messages."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

from feedmill.i18n.messages import Message
from feedmill.model.timestamps import to_iso

# Written as the database has it: UTC, to the millisecond.
StoredTime = Annotated[
    datetime,
    PlainSerializer(to_iso, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


def _english(given: object) -> object:
    return str(given) if isinstance(given, Message) else given


# A message, in English.
MessageText = Annotated[str, BeforeValidator(_english)]


class ResponseBody(BaseModel):
    """The base of every shared response. A client ignores fields that it does not know: a newer server may add some."""

    # Built when first used: a client uses a few of them.
    model_config = ConfigDict(frozen=True, defer_build=True)
