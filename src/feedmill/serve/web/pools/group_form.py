"""Reads and shows the form of a pool group."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.feeds.lookup import NoSuchFeed, find_feed_ids
from feedmill.library.users.manage_users import find_user
from feedmill.model.pool import PoolGroup, PoolKind, PoolRule
from feedmill.optional_imports import import_by_name
from feedmill.serve.web.core.form_fields import TEXT
from feedmill.serve.web.core.read_form import form_text
from feedmill.store.database import Database

if TYPE_CHECKING:
    from feedmill.serve.rest.pools.group_schemas import NewPoolGroup

# Imported when a form is sent: only the API needs pydantic at the start.
NEW_GROUP = "feedmill.serve.rest.pools.group_schemas:NewPoolGroup"
VALIDATION_ERROR = "pydantic:ValidationError"
LINE_FIELDS = ("folders", "labels", "words", "without")
NUMBER_FIELDS = ("size", "refill_below", "lease_seconds", "most_attempts")
CHOICE_FIELDS = ("guarantee", "form")
SOURCE_FIELD = "source_table"
OPTION_FIELDS = (*NUMBER_FIELDS, *CHOICE_FIELDS, SOURCE_FIELD)
# Fields of the group as a whole, besides its name.
LOSS_FIELDS = ("on_loss", "release_after_seconds")
# By field, the key of a text, or a message with its values.
FormErrors = Mapping[str, str | Message]
ERROR_KEYS = {
    "name": "pools.bad_name",
    "feeds": "pools.bad_feeds",
    "language": "pools.bad_language",
    "since": "pools.bad_since",
    "min_length": "pools.bad_number",
    **dict.fromkeys(NUMBER_FIELDS, "pools.bad_number"),
    **dict.fromkeys(LINE_FIELDS, "pools.bad_line"),
    **dict.fromkeys(CHOICE_FIELDS, "pools.bad_choice"),
    SOURCE_FIELD: "pools.bad_table_name",
    "labels_of": "pools.no_such_user",
    "on_loss": "pools.bad_choice",
    "release_after_seconds": "pools.bad_number",
}


async def read_group_form(db: Database, sent: FormData) -> tuple["NewPoolGroup | None", FormErrors]:
    """The submitted form as a request of the API, or its errors by field."""
    try:
        feeds = await find_feed_ids(db, _lines(sent, "feeds"))
    except NoSuchFeed:
        return None, {"feeds": ERROR_KEYS["feeds"]}
    if not await _has_owner(db, sent):
        return None, {"labels_of": ERROR_KEYS["labels_of"]}
    given: dict[str, Any] = {str(kind): _options(sent, kind) for kind in PoolKind}
    given |= {"name": form_text(sent, "name"), "rule": _rule(sent, feeds)} | _loss(sent)
    try:
        return import_by_name(NEW_GROUP).model_validate(given), {}
    except import_by_name(VALIDATION_ERROR) as error:
        places = [tuple(str(part) for part in each["loc"]) for each in error.errors()]
        return None, {_field(place): ERROR_KEYS[place[min(1, len(place) - 1)]] for place in places}


def input_error(error: BadInput) -> FormErrors:
    """The error of a field that only the service can check, such as `titles.source_table`."""
    return {(error.field or "name").replace(".", "_"): error.message}


def group_values(group: PoolGroup, feeds: Sequence[str]) -> Mapping[str, Any]:
    """The values of the fields for an existing group."""
    rule = group.rule
    values: dict[str, Any] = {name: "\n".join(getattr(rule, name)) for name in LINE_FIELDS}
    values |= {
        "name": group.name,
        "feeds": "\n".join(feeds),
        "language": rule.language or "",
        "min_length": rule.min_length or "",
        "since": f"{rule.since:%Y-%m-%d}" if rule.since else "",
        "labels_of": rule.labels_of or "",
        "origin": "programs" if rule.no_entries else "entries",
    }
    for kind in PoolKind:
        options = group.options(kind)
        values |= {f"{kind}_{name}": getattr(options, name) for name in OPTION_FIELDS}
    return values | {name: getattr(group.loss, name) for name in LOSS_FIELDS}


EMPTY_VALUES = group_values(PoolGroup(0, "", PoolRule(), datetime.now(UTC)), ())
NEW_GROUP_FORM = dict.fromkeys(EMPTY_VALUES, TEXT.optional)
# A field that is missing would remove its condition from the rule. Titles have no field for the format.
GROUP_FORM = {name: field if name == "titles_form" else TEXT for name, field in NEW_GROUP_FORM.items()}


def submitted_values(sent: FormData) -> Mapping[str, Any]:
    """The submitted values, to be shown again for correction."""
    return {name: form_text(sent, name) for name in EMPTY_VALUES}


def _rule(sent: FormData, feeds: list[int]) -> dict[str, Any]:
    since = form_text(sent, "since")
    lines: dict[str, Any] = {name: _lines(sent, name) for name in LINE_FIELDS}
    return lines | {
        "feeds": feeds,
        "language": form_text(sent, "language").strip() or None,
        "min_length": _number(form_text(sent, "min_length") or "0"),
        "since": f"{since}T00:00:00Z" if since else None,
        "labels_of": form_text(sent, "labels_of").strip() or None,
        "no_entries": form_text(sent, "origin") == "programs",
    }


async def _has_owner(db: Database, sent: FormData) -> bool:
    """Whether `labels_of` names an existing account, if there are labels."""
    return not _lines(sent, "labels") or await find_user(db, form_text(sent, "labels_of")) is not None


def _options(sent: FormData, kind: PoolKind) -> dict[str, Any]:
    given = {name: form_text(sent, f"{kind}_{name}").strip() for name in OPTION_FIELDS}
    # An empty field leaves an option as it is, but removes the table.
    changed = {name: typed for name, typed in given.items() if typed or name == SOURCE_FIELD}
    return {name: _number(typed) if name in NUMBER_FIELDS else typed for name, typed in changed.items()}


def _loss(sent: FormData) -> dict[str, Any]:
    given = {name: form_text(sent, name) for name in LOSS_FIELDS}
    return {name: typed if name == "on_loss" else _number(typed) for name, typed in given.items() if typed}


def _number(typed: str) -> int | str:
    """The number in a field, limited in length; other text is kept, and refused by validation."""
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) < 10 else typed


def _lines(sent: FormData, name: str) -> list[str]:
    return [line.strip() for line in form_text(sent, name).splitlines() if line.strip()]


def _field(place: tuple[str, ...]) -> str:
    """`("rule", "words", "0")` is the field `words`, `("titles", "size")` is `titles_size`."""
    return place[1] if place[0] == "rule" else "_".join(place[:2])
