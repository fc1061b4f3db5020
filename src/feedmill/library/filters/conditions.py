"""Parses the condition of a filter: the search language, and regular expressions, about the entry itself.

A filter looks at entries when they arrive. So a condition can't ask what a reader did with an entry (`is:`, `label:`).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.filters.regular_expressions import BadRegex, compile_regex
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.query_names import UserNames, load_names
from feedmill.library.search.query_parser import NameResolver, parse_query
from feedmill.library.search.query_tokens import QueryToken, tokenize
from feedmill.model.search_query import SearchCondition
from feedmill.store.database import Database

MOST_REGEXES = 5

# About a reader, not about the entry.
_OF_READERS = frozenset({"is", "label"})
_NAMES = frozenset({"feed", "folder"})
_DATES = frozenset({"before", "after", "on"})
_NO_NAMES = UserNames()
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class BadCondition(BadInput):
    """The condition can't be understood; `reason` says why, `position` is where, counted from 0."""

    code = "bad_condition"

    def __init__(self, reason: Message, position: int) -> None:
        super().__init__(Message("bad_search.at_position", reason=reason, n=position + 1), "condition")
        self.reason, self.position = reason, position
        self.more = {"position": position}


async def parse_condition(db: Database, user_id: int, text: str, now: datetime) -> SearchCondition:
    """The condition with the user's names resolved; raises `BadCondition`."""
    tokens = condition_tokens(text)
    return parse_tokens(tokens, await load_names(db, user_id, tokens), now)


def condition_tokens(text: str) -> list[QueryToken]:
    """The tokens of a condition; raises `BadCondition`."""
    try:
        tokens = tokenize(text, with_regex=True)
    except BadSearch as error:
        raise BadCondition(error.reason, error.position) from error
    for token in tokens:
        if token.kind in _OF_READERS:
            raise BadCondition(Message("bad_condition.not_at_arrival", field=f"{token.kind}:"), token.position)
    _check_regexes([token for token in tokens if token.is_regex])
    return tokens


def regexes_of(text: str) -> list[str]:
    """The regular expressions of a condition that was parsed before."""
    return [token.value for token in tokenize(text, with_regex=True) if token.is_regex]


def parse_tokens(tokens: list[QueryToken], names: NameResolver, now: datetime) -> SearchCondition:
    """The condition that the tokens express; raises `BadCondition`."""
    try:
        return parse_query(tokens, names, now)
    except BadSearch as error:
        raise BadCondition(error.reason, error.position) from error


@lru_cache(maxsize=4096)
def constant_condition(text: str) -> SearchCondition | None:
    """The condition of a text that means the same for every user at any time; None if it names feeds or dates.

    Cached, because every refresh asks for the same ones. Raises `BadCondition`.
    """
    tokens = condition_tokens(text)
    if any(token.kind in _NAMES | _DATES for token in tokens):
        return None
    return parse_tokens(tokens, _NO_NAMES, _NO_TIME)


def uses_names(text: str) -> bool:
    """Whether the condition names feeds or folders; raises `BadCondition`."""
    return any(token.kind in _NAMES for token in condition_tokens(text))


def _check_regexes(tokens: Sequence[QueryToken]) -> None:
    if len(tokens) > MOST_REGEXES:
        raise BadCondition(Message("bad_condition.many_regexes", n=MOST_REGEXES), tokens[MOST_REGEXES].position)
    for token in tokens:
        try:
            compile_regex(token.value)
        except BadRegex as error:
            raise BadCondition(error.message, token.position) from error
