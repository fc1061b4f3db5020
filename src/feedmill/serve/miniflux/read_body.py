"""Reads the JSON body of a request into a struct; unknown members are ignored, because clients send whole objects."""

from typing import TypeVar

import msgspec
from starlette.requests import Request

from feedmill.errors import BadInput, TooLarge
from feedmill.i18n.messages import Message
from feedmill.serve.http.body_limits import MAX_JSON_BYTES, with_body_limit

T = TypeVar("T", bound=msgspec.Struct)


async def read_body(request: Request, kind: type[T]) -> T:
    too_large = TooLarge(Message("error.form_too_large", megabytes=MAX_JSON_BYTES // 1_000_000))
    body = await with_body_limit(request, MAX_JSON_BYTES, too_large).body()
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(Message("error.bad_json", reason=str(error))) from error
