"""The search language: words, "phrases", -not, OR, ( ), and fields such as `in:title`, `feed:` or `is:unread`.

either := both (OR both)*
both   := part (AND? part)*
part   := (- | !)* (( either ) | in:scope part | term)
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar, get_args

from feedmill.library.search_dates import read_moment, read_range
from feedmill.library.search_tokens import BadSearch, Token
from feedmill.model.search import (
    Condition,
    Dated,
    Either,
    Every,
    Has,
    Labelled,
    Language,
    MediaName,
    OfFeeds,
    Scope,
    State,
    StateName,
    Text,
    Without,
)
from feedmill.store.search_words import URL_WORD, asked, site_word

Read = TypeVar("Read")

MOST_DEPTH = 10
SHORTEST_PREFIX = 2

_LANGUAGE = re.compile(r"[a-z0-9-]{1,35}", re.IGNORECASE)
_WHERE: dict[str, Scope] = {"in:title": "title", "in:author": "author", "in:text": "text"}


class Names(Protocol):
    """What a person's names stand for; nothing when there is no such name."""

    def feeds(self, name: str) -> tuple[int, ...]:
        """The feeds whose title has these words, or of the subscription of that number."""

    def folder(self, name: str) -> tuple[int, ...]:
        """The feeds in a folder and below it."""

    def labels(self, name: str) -> tuple[int, ...]:
        """The labels of that name."""


def parse(tokens: list[Token], names: Names, now: datetime) -> Condition:
    """What the tokens ask for; raises `BadSearch`."""
    parser = _Parser(tokens, names, now)
    condition = parser.either("any", 0)
    if parser.next is not None:
        raise BadSearch("closes_nothing", parser.next.position)
    if condition is None:
        raise BadSearch("empty", tokens[0].position if tokens else 0)
    return condition


@dataclass(slots=True)
class _Parser:
    """Parts are None where there is nothing to look for, such as a lone hyphen."""

    tokens: list[Token]
    names: Names
    now: datetime
    at: int = 0

    @property
    def next(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def either(self, where: str, depth: int) -> Condition | None:
        parts = [self._both(where, depth)]
        while (sign := self.next) and sign.kind == "or":
            self.at += 1
            part = self._both(where, depth)
            if not parts[0] or not part:
                raise BadSearch("lone_or", sign.position)
            parts.append(part)
        return _joined(parts, Either)

    def _both(self, where: str, depth: int) -> Condition | None:
        parts: list[Condition | None] = []
        while (token := self.next) and token.kind not in (")", "or"):
            if token.kind == "and":
                self.at += 1
                continue
            parts.append(self._part(where, depth))
        return _joined(parts, Every)

    def _part(self, where: str, depth: int) -> Condition | None:
        token = self.next
        if token is None or token.kind in (")", "or", "and"):
            raise BadSearch("missing", self._end())
        if depth >= MOST_DEPTH:
            raise BadSearch("too_deep", token.position, n=MOST_DEPTH)
        self.at += 1
        if token.kind == "not":
            part = self._part(where, depth + 1)
            return None if part is None else Without(part)
        if token.kind == "(":
            return self._group(token, where, depth + 1)
        if token.kind.startswith("in:") and not token.value:
            return self._part(token.kind, depth + 1)
        return self._term(token, where)

    def _group(self, opened: Token, where: str, depth: int) -> Condition | None:
        part = self.either(where, depth)
        if self.next is None:
            raise BadSearch("open_group", opened.position)
        self.at += 1
        return part

    def _term(self, token: Token, where: str) -> Condition | None:
        if token.kind == "text":
            return _text(token, where)
        if token.kind.startswith("in:"):
            return _text(token, token.kind)
        return _TERMS[token.kind](self, token)

    def of_feeds(self, token: Token) -> Condition:
        return OfFeeds(self.names.feeds(token.value))

    def of_folder(self, token: Token) -> Condition:
        return OfFeeds(self.names.folder(token.value))

    def labelled(self, token: Token) -> Condition:
        return Labelled(self.names.labels(token.value))

    def before(self, token: Token) -> Condition:
        return Dated(until=_dated(read_moment(token.value, self.now), token))

    def after(self, token: Token) -> Condition:
        return Dated(since=_dated(read_moment(token.value, self.now), token))

    def on(self, token: Token) -> Condition:
        return _dated(read_range(token.value, self.now), token)

    def _end(self) -> int:
        token = self.next
        if token is not None:
            return token.position
        last = self.tokens[-1]
        return last.position + max(len(last.value), 1)


def _state(_: _Parser, token: Token) -> Condition:
    return State(_chosen(token, get_args(StateName)))  # type: ignore[arg-type]


def _media(_: _Parser, token: Token) -> Condition:
    return Has(_chosen(token, get_args(MediaName)))  # type: ignore[arg-type]


def _language(_: _Parser, token: Token) -> Condition:
    if not _LANGUAGE.fullmatch(token.value):
        raise BadSearch("no_language", token.position)
    return Language(token.value.lower())


def _site(_: _Parser, token: Token) -> Condition:
    host = token.value.rpartition("://")[2].partition("/")[0].removeprefix("www.").lower()
    return Text((site_word(host),))


_TERMS: dict[str, Callable[[_Parser, Token], Condition]] = {
    "feed": _Parser.of_feeds,
    "folder": _Parser.of_folder,
    "label": _Parser.labelled,
    "before": _Parser.before,
    "after": _Parser.after,
    "on": _Parser.on,
    "is": _state,
    "has": _media,
    "lang": _language,
    "site": _site,
}


def _text(token: Token, where: str) -> Condition | None:
    """What is written, as words one after the other; None when there is no letter in it."""
    words, prefix = asked(token.value)
    if not words:
        return None
    if where == "in:url":
        return Text(tuple(URL_WORD + word for word in words), prefix=True)
    if not token.quoted and token.value.endswith("*"):
        if len(words[-1]) < SHORTEST_PREFIX:
            raise BadSearch("short_prefix", token.position, n=SHORTEST_PREFIX)
        prefix = True
    return Text(words, _WHERE.get(where, "any"), prefix)


def _chosen(token: Token, known: tuple[str, ...]) -> str:
    if token.value.lower() not in known:
        raise BadSearch("no_such_value", token.position, field=f"{token.kind}:", values=", ".join(known))
    return token.value.lower()


def _dated(read: Read | None, token: Token) -> Read:
    if read is None:
        raise BadSearch("no_date", token.position)
    return read


def _joined(parts: list[Condition | None], kind: type[Every] | type[Either]) -> Condition | None:
    found = tuple(part for part in parts if part is not None)
    return kind(found) if len(found) > 1 else found[0] if found else None
