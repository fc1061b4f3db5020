"""The form of a pool group: what its fields show, and what is read from them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData

from feedmill.library.feed_names import UnknownFeed, feed_ids_named
from feedmill.model.pool import Group, Kind, Rule
from feedmill.serve.rest.pool_forms import NewGroup
from feedmill.serve.web.page import text
from feedmill.store.database import Database

LINES = ("folders", "labels", "words", "without")
NUMBERS = ("size", "refill_below", "lease_seconds", "most_attempts")
WORDS = ("guarantee", "form")
BAD = {
    "name": "pools.bad_name", "feeds": "pools.bad_feeds", "language": "pools.bad_language", "since": "pools.bad_since",
    "min_length": "pools.bad_number", **dict.fromkeys(NUMBERS, "pools.bad_number"),
    **dict.fromkeys(LINES, "pools.bad_line"), **dict.fromkeys(WORDS, "pools.bad_choice"),
}  # fmt: skip


async def read_form(db: Database, sent: FormData) -> tuple[NewGroup | None, dict[str, str]]:
    """What was sent as the API would take it, or by field what is wrong with it."""
    try:
        feeds = await feed_ids_named(db, _lines(sent, "feeds"))
    except UnknownFeed:
        return None, {"feeds": BAD["feeds"]}
    given: dict[str, Any] = {str(kind): _options(sent, kind) for kind in Kind}
    given |= {"name": text(sent, "name"), "rule": _rule(sent, feeds)}
    try:
        return NewGroup.model_validate(given), {}
    except ValidationError as error:
        places = [tuple(str(part) for part in each["loc"]) for each in error.errors()]
        return None, {_field(place): BAD[place[min(1, len(place) - 1)]] for place in places}


def values_of(group: Group, feeds: Sequence[str]) -> Mapping[str, Any]:
    """What the fields show of a group."""
    rule = group.rule
    values: dict[str, Any] = {name: "\n".join(getattr(rule, name)) for name in LINES}
    values |= {
        "name": group.name, "feeds": "\n".join(feeds), "language": rule.language or "",
        "min_length": rule.min_length or "", "since": f"{rule.since:%Y-%m-%d}" if rule.since else "",
    }  # fmt: skip
    for kind in Kind:
        options = group.options(kind)
        values |= {f"{kind}_{name}": getattr(options, name) for name in (*NUMBERS, *WORDS)}
    return values


BLANK = values_of(Group(0, "", Rule(), datetime.now(UTC)), ())


def values_sent(sent: FormData) -> Mapping[str, Any]:
    """The fields as they were sent, for whoever mends them."""
    return {name: text(sent, name) for name in BLANK}


def _rule(sent: FormData, feeds: list[int]) -> dict[str, Any]:
    since = text(sent, "since")
    lines: dict[str, Any] = {name: _lines(sent, name) for name in LINES}
    return lines | {
        "feeds": feeds, "language": text(sent, "language").strip() or None,
        "min_length": _number(text(sent, "min_length") or "0"), "since": f"{since}T00:00:00Z" if since else None,
    }  # fmt: skip


def _options(sent: FormData, kind: Kind) -> dict[str, Any]:
    given = {name: text(sent, f"{kind}_{name}") for name in (*NUMBERS, *WORDS)}
    return {name: _number(typed) if name in NUMBERS else typed for name, typed in given.items() if typed}


def _number(typed: str) -> int | str:
    """Python would read numbers of thousands of digits, too; what is none is refused by the form."""
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) < 10 else typed


def _lines(sent: FormData, name: str) -> list[str]:
    return [line.strip() for line in text(sent, name).splitlines() if line.strip()]


def _field(place: tuple[str, ...]) -> str:
    """`("rule", "words", "0")` stands in the field `words`, `("titles", "size")` in `titles_size`."""
    return place[1] if place[0] == "rule" else "_".join(place[:2])
