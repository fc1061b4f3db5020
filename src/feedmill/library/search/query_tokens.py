"""Splits a search query into tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from feedmill.i18n.messages import Message
from feedmill.library.search.errors import BadSearch

MOST_CHARACTERS = 1000
MOST_TERMS = 50

# Spellings of other feed readers, and what they mean here.
FIELDS = {
    "in": "in",
    "feed": "feed",
    "folder": "folder",
    "label": "label",
    "is": "is",
    "has": "has",
    "before": "before",
    "after": "after",
    "on": "on",
    "lang": "lang",
    "site": "site",
    "f": "feed",
    "intitle": "in:title",
    "author": "in:author",
    "inurl": "in:url",
    "intext": "in:text",
    "date": "on",
    "pubdate": "on",
}
SCOPES = ("title", "author", "url", "text")

_QUOTE = '"“”'
_SIGN = re.compile(
    rf"(?P<space>\s+)|(?P<open>\()|(?P<close>\))|(?P<not>[-!])(?=[^\s)])|(?P<or>OR|\|\|?)(?=[\s()]|$)"
    rf"|(?P<and>AND|&&?)(?=[\s()]|$)|(?P<field>[a-zA-Z]+):|(?P<hash>\#)(?=[\w{_QUOTE}])"
)
_PHRASE = re.compile(rf"[{_QUOTE}](?P<inside>[^{_QUOTE}]*)[{_QUOTE}]")
_WORD = re.compile(rf"[^\s(){_QUOTE}]+")
_NAME = re.compile(r"[a-zA-Z]+")
_REGEX = re.compile(r"/(?P<inside>(?:[^/\\]|\\.)+)/(?=[\s()]|$)")


@dataclass(frozen=True, slots=True)
class QueryToken:
    """`kind` is `(`, `)`, `not`, `or`, `and`, `text` or a field; `value` is the text of a term.

    `quoted`: it is a phrase. `is_regex`: it is a regular expression, which only filters have. A scope (`in:title`)
    without a value applies to the part that follows.
    """

    kind: str
    position: int
    value: str = ""
    quoted: bool = False
    is_regex: bool = False


def tokenize(text: str, *, with_regex: bool = False) -> list[QueryToken]:
    """The tokens of a query; raises `BadSearch` if it is too long or incomplete.

    `with_regex`: a term between slashes is a regular expression.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadSearch(Message("bad_search.too_long", n=MOST_CHARACTERS), MOST_CHARACTERS)
    tokens = list(_tokens(text, with_regex))
    terms = [token for token in tokens if token.value]
    if len(terms) > MOST_TERMS:
        raise BadSearch(Message("bad_search.too_many", n=MOST_TERMS), terms[MOST_TERMS].position)
    return tokens


def _tokens(text: str, with_regex: bool) -> Iterator[QueryToken]:
    position = 0
    while position < len(text):
        sign = _SIGN.match(text, position)
        kind = sign.lastgroup if sign else None
        if sign and kind == "space":
            position = sign.end()
        elif sign and kind in ("open", "close", "not", "or", "and"):
            yield QueryToken({"open": "(", "close": ")"}.get(kind, kind), position)
            position = sign.end()
        elif sign and (field := _field(sign)):
            token, position = _term(text, field, position, sign.end(), with_regex)
            yield token
        else:
            token, position = _term(text, "text", position, position, with_regex)
            yield token


def _field(sign: re.Match[str]) -> str | None:
    """The field at the start of a term; None if it is a word with a colon."""
    return "label" if sign["hash"] else FIELDS.get((sign["field"] or "").lower())


def _term(text: str, field: str, start: int, value_at: int, with_regex: bool) -> tuple[QueryToken, int]:
    if field == "in":
        return _scope(text, start, value_at, with_regex)
    if with_regex and text[value_at : value_at + 1] == "/" and (field == "text" or field.startswith("in:")):
        return _regex(text, field, start, value_at)
    if text[value_at : value_at + 1] in tuple(_QUOTE):
        phrase = _PHRASE.match(text, value_at)
        if phrase is None:
            raise BadSearch(Message("bad_search.open_quote"), value_at)
        return QueryToken(field, start, phrase["inside"], quoted=True), phrase.end()
    word = _WORD.match(text, value_at)
    if word is None:
        if field.startswith("in:"):
            return QueryToken(field, start), value_at
        raise BadSearch(Message("bad_search.no_value", field=text[start:value_at]), value_at)
    return QueryToken(field, start, word[0]), word.end()


def _regex(text: str, field: str, start: int, value_at: int) -> tuple[QueryToken, int]:
    regex = _REGEX.match(text, value_at)
    if regex is None:
        raise BadSearch(Message("bad_search.open_regex"), value_at)
    return QueryToken(field, start, regex["inside"], is_regex=True), regex.end()


def _scope(text: str, start: int, value_at: int, with_regex: bool) -> tuple[QueryToken, int]:
    """`in:title:word`, or `in:title` before a word, a phrase or a group."""
    name = _NAME.match(text, value_at)
    scope = name[0].lower() if name else ""
    if name is None or scope not in SCOPES:
        raise BadSearch(Message("bad_search.no_such_value", field="in:", values=", ".join(SCOPES)), value_at)
    if text[name.end() : name.end() + 1] == ":":
        return _term(text, f"in:{scope}", start, name.end() + 1, with_regex)
    return QueryToken(f"in:{scope}", start), name.end()
