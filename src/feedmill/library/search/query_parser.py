"""Parses the search language: words, "phrases", -not, OR, ( ), and fields such as `in:title`.

either := both (OR both)*
both   := part (AND? part)*
part   := (- | !)* (( either ) | in:scope part | term)
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar, get_args

from feedmill.i18n.messages import Message
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.query_dates import read_moment, read_range
from feedmill.library.search.query_tokens import QueryToken
from feedmill.model.search_query import (
    And,
    DateRange,
    EntryStateName,
    HasLabel,
    HasMedia,
    HasState,
    InFeeds,
    InLanguage,
    MediaName,
    Not,
    Or,
    RegexField,
    RegexMatch,
    SearchCondition,
    SearchField,
    TextMatch,
)
from feedmill.store.search.tokenizer import URL_WORD, query_words, site_word

Read = TypeVar("Read")

MOST_DEPTH = 10
SHORTEST_PREFIX = 2

_LANGUAGE = re.compile(r"[a-z0-9-]{1,35}", re.IGNORECASE)
_WHERE: dict[str, SearchField] = {"in:title": "title", "in:author": "author", "in:text": "text"}
_REGEX_WHERE: dict[str, RegexField] = {**_WHERE, "in:url": "url"}


class NameResolver(Protocol):
    """Resolves a user's names to ids; an unknown name has none."""

    def feeds(self, name: str) -> tuple[int, ...]:
        """The feeds whose title contains these words, or of the subscription with that id."""

    def folder(self, name: str) -> tuple[int, ...]:
        """The feeds in a folder and its subfolders."""

    def labels(self, name: str) -> tuple[int, ...]:
        """The labels of that name."""


def parse_query(tokens: list[QueryToken], names: NameResolver, now: datetime) -> SearchCondition:
    """The condition that the tokens express; raises `BadSearch`."""
    parser = _Parser(tokens, names, now)
    condition = parser.either("any", 0)
    if parser.next is not None:
        raise BadSearch(Message("bad_search.closes_nothing"), parser.next.position)
    if condition is None:
        raise BadSearch(Message("bad_search.empty"), tokens[0].position if tokens else 0)
    return condition


@dataclass(slots=True)
class _Parser:
    """A recursive-descent parser. A part is None if it has nothing to search for, such as a lone hyphen."""

    tokens: list[QueryToken]
    names: NameResolver
    now: datetime
    at: int = 0

    @property
    def next(self) -> QueryToken | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def either(self, where: str, depth: int) -> SearchCondition | None:
        parts = [self._both(where, depth)]
        while (sign := self.next) and sign.kind == "or":
            self.at += 1
            part = self._both(where, depth)
            if not parts[0] or not part:
                raise BadSearch(Message("bad_search.lone_or"), sign.position)
            parts.append(part)
        return _joined(parts, Or)

    def _both(self, where: str, depth: int) -> SearchCondition | None:
        parts: list[SearchCondition | None] = []
        while (token := self.next) and token.kind not in (")", "or"):
            if token.kind == "and":
                self.at += 1
                continue
            parts.append(self._part(where, depth))
        return _joined(parts, And)

    def _part(self, where: str, depth: int) -> SearchCondition | None:
        token = self.next
        if token is None or token.kind in (")", "or", "and"):
            raise BadSearch(Message("bad_search.missing"), self._end())
        if depth >= MOST_DEPTH:
            raise BadSearch(Message("bad_search.too_deep", n=MOST_DEPTH), token.position)
        self.at += 1
        if token.kind == "not":
            part = self._part(where, depth + 1)
            return None if part is None else Not(part)
        if token.kind == "(":
            return self._group(token, where, depth + 1)
        if token.kind.startswith("in:") and not token.value:
            return self._part(token.kind, depth + 1)
        return self._term(token, where)

    def _group(self, opened: QueryToken, where: str, depth: int) -> SearchCondition | None:
        part = self.either(where, depth)
        if self.next is None:
            raise BadSearch(Message("bad_search.open_group"), opened.position)
        self.at += 1
        return part

    def _term(self, token: QueryToken, where: str) -> SearchCondition | None:
        if token.kind == "text":
            return _text(token, where)
        if token.kind.startswith("in:"):
            return _text(token, token.kind)
        return _TERMS[token.kind](self, token)

    def of_feeds(self, token: QueryToken) -> SearchCondition:
        return InFeeds(self.names.feeds(token.value))

    def of_folder(self, token: QueryToken) -> SearchCondition:
        return InFeeds(self.names.folder(token.value))

    def labelled(self, token: QueryToken) -> SearchCondition:
        return HasLabel(self.names.labels(token.value))

    def before(self, token: QueryToken) -> SearchCondition:
        return DateRange(until=_dated(read_moment(token.value, self.now), token))

    def after(self, token: QueryToken) -> SearchCondition:
        return DateRange(since=_dated(read_moment(token.value, self.now), token))

    def on(self, token: QueryToken) -> SearchCondition:
        return _dated(read_range(token.value, self.now), token)

    def _end(self) -> int:
        token = self.next
        if token is not None:
            return token.position
        last = self.tokens[-1]
        return last.position + max(len(last.value), 1)


def _state(_: _Parser, token: QueryToken) -> SearchCondition:
    return HasState(_chosen(token, get_args(EntryStateName)))  # type: ignore[arg-type]


def _media(_: _Parser, token: QueryToken) -> SearchCondition:
    return HasMedia(_chosen(token, get_args(MediaName)))  # type: ignore[arg-type]


def _language(_: _Parser, token: QueryToken) -> SearchCondition:
    if not _LANGUAGE.fullmatch(token.value):
        raise BadSearch(Message("bad_search.no_language"), token.position)
    return InLanguage(token.value.lower())


def _site(_: _Parser, token: QueryToken) -> SearchCondition:
    host = token.value.rpartition("://")[2].partition("/")[0].removeprefix("www.").lower()
    return TextMatch((site_word(host),))


_TERMS: dict[str, Callable[[_Parser, QueryToken], SearchCondition]] = {
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


def _text(token: QueryToken, where: str) -> SearchCondition | None:
    """The text as a phrase; None if it has no letters or digits."""
    if token.is_regex:
        return RegexMatch(token.value, _REGEX_WHERE.get(where, "any"))
    words, prefix = query_words(token.value)
    if not words:
        return None
    if where == "in:url":
        return TextMatch(tuple(URL_WORD + word for word in words), prefix=True)
    if not token.quoted and token.value.endswith("*"):
        if len(words[-1]) < SHORTEST_PREFIX:
            raise BadSearch(Message("bad_search.short_prefix", n=SHORTEST_PREFIX), token.position)
        prefix = True
    return TextMatch(words, _WHERE.get(where, "any"), prefix)


def _chosen(token: QueryToken, known: tuple[str, ...]) -> str:
    if token.value.lower() not in known:
        field, values = f"{token.kind}:", ", ".join(known)
        raise BadSearch(Message("bad_search.no_such_value", field=field, values=values), token.position)
    return token.value.lower()


def _dated(read: Read | None, token: QueryToken) -> Read:
    if read is None:
        raise BadSearch(Message("bad_search.no_date"), token.position)
    return read


def _joined(parts: list[SearchCondition | None], kind: type[And] | type[Or]) -> SearchCondition | None:
    found = tuple(part for part in parts if part is not None)
    return kind(found) if len(found) > 1 else found[0] if found else None
