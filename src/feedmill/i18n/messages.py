"""A message for people: a code with parameters, from which each language's catalogue makes a sentence."""

import json
from collections.abc import Mapping
from datetime import datetime as Datetime
from datetime import timedelta
from functools import lru_cache
from typing import Any

from feedmill.i18n.english import render_english


class Message:
    """`Message("schedule.backoff", failures=3)`. `str()` gives its English text.

    Parameters are texts, numbers, durations, moments or other messages. `n` chooses among plural forms.
    Treat it as immutable.
    """

    __slots__ = ("code", "values")

    def __init__(self, code: str, /, **values: "Parameter") -> None:
        self.code = code
        self.values: Mapping[str, Parameter] = values

    def __str__(self) -> str:
        return render_english(self.code, self.values)

    def __repr__(self) -> str:
        return f"Message({', '.join([repr(self.code), *(f'{name}={value!r}' for name, value in self.values.items())])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.code, self.values) == (other.code, other.values)

    def __hash__(self) -> int:
        return hash(self.code)


Parameter = str | int | float | timedelta | Datetime | Message


def verbatim(text: str) -> Message:
    """Text that is not ours, such as that of another program: the same in every language."""
    return Message("text.verbatim", text=text)


def message_to_stored(message: Message) -> str:
    """A message as it is stored in a row: `{"code": …}` with its parameters, as JSON in ASCII."""
    return json.dumps(_plain(message), separators=(",", ":"))


def stored_or_none(message: Message | None) -> str | None:
    return None if message is None else message_to_stored(message)


# A page may show a thousand feeds, mostly with the reasons that they had a minute ago.
@lru_cache(maxsize=4096)
def message_from_stored(text: str) -> Message:
    """The message stored in a row; any other text is shown unchanged."""
    if not text.startswith('{"code":'):
        return verbatim(text)
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return verbatim(text)
    message = _read(kept)
    return message if isinstance(message, Message) else verbatim(text)


def message_or_none(text: str | None) -> Message | None:
    return message_from_stored(text) if text else None


def _plain(value: "Parameter") -> Any:
    match value:
        case Message():
            return {"code": value.code} | {name: _plain(part) for name, part in value.values.items()}
        case timedelta():
            return {"seconds": value.total_seconds()}
    return value


def _read(kept: Any) -> Any:
    match kept:
        case {"code": str(code), **values}:
            return Message(code, **{str(name): _read(part) for name, part in values.items()})
        case {"seconds": int() | float() as seconds}:
            return timedelta(seconds=seconds)
        case str() | int() | float():
            return kept
    return str(kept)
