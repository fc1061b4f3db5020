"""Schemas of texts that programs put into pools."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from fastapi.exceptions import RequestValidationError
from pydantic import Field, StringConstraints, ValidationError
from pydantic_core import from_json

from feedmill.errors import BadInput
from feedmill.model.pool import PoolKind, PoolText
from feedmill.pools.program_texts import (
    MAX_BATCH_ID,
    MAX_ID_LENGTH,
    MAX_TEXT_LENGTH,
    MAX_TEXTS_AT_ONCE,
    batch_of,
    checked_text,
)
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import Id, StrictInt

SentText = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=MAX_TEXT_LENGTH[PoolKind.CONTENTS], pattern=r"^[^\x00]*[^\x00\s][^\x00]*$"
    ),
]
SenderId = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=MAX_ID_LENGTH, pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f\s][^\x00-\x1f\x7f]*$"
    ),
]
BatchId = Annotated[StrictInt, Field(ge=0, le=MAX_BATCH_ID)]


class NewPoolText(RequestBody):
    """One text."""

    text: SentText = Field(
        description="Plain text in a pool of titles, at most "
        f"{MAX_TEXT_LENGTH[PoolKind.TITLES]:,} characters; HTML in a pool of contents."
    )
    id: SenderId | Id | None = Field(
        default=None,
        description="Your own id, a text or a number. The same one is stored once; by default the text's hash.",
    )
    batch_id: BatchId | None = Field(default=None, description="The highest batch is handed out first.")


class NewPoolTexts(RequestBody):
    """Several texts."""

    items: list[NewPoolText] = Field(min_length=1, max_length=MAX_TEXTS_AT_ONCE)
    batch_id: BatchId | None = Field(
        default=None, description="The batch of those without their own; by default the time, `20260218083000`."
    )


def read_texts(body: bytes, kind: PoolKind, now: datetime) -> list[PoolText]:
    """The texts of a request, one or several; raises `RequestValidationError` or `BadInput`."""
    sent = _parse(body)
    usual = batch_of(now) if sent.batch_id is None else sent.batch_id
    if isinstance(sent, NewPoolText):
        return [_checked(sent, kind, usual)]
    return list(_checked_items(sent, kind, usual))


def request_body() -> dict[str, Any]:
    """The request body for OpenAPI: the route reads it itself, after it knows the caller."""
    one, several = NewPoolText.model_json_schema(), NewPoolTexts.model_json_schema()
    del several["$defs"]
    several["properties"]["items"]["items"] = one
    content = {"application/json": {"schema": {"anyOf": [one, several]}}}
    return {"requestBody": {"required": True, "content": content}}


def _parse(body: bytes) -> NewPoolText | NewPoolTexts:
    try:
        sent = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise _refused([{"loc": (), "msg": f"no JSON: {error}"}]) from error
    model = NewPoolTexts if isinstance(sent, dict) and "items" in sent else NewPoolText
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise _refused(error.errors(include_url=False, include_input=False, include_context=False)) from error


def _refused(errors: Any) -> RequestValidationError:
    return RequestValidationError([{**error, "loc": ("body", *error["loc"])} for error in errors])


def _checked_items(sent: NewPoolTexts, kind: PoolKind, usual: int) -> Iterator[PoolText]:
    for number, item in enumerate(sent.items):
        try:
            yield _checked(item, kind, usual)
        except BadInput as error:
            raise BadInput(error.message, field=f"items.{number}.{error.field}") from error


def _checked(item: NewPoolText, kind: PoolKind, usual: int) -> PoolText:
    given = None if item.id is None else str(item.id)
    return checked_text(kind, item.text, given, usual if item.batch_id is None else item.batch_id)
