"""Splits a search into its shape, for which a statement is compiled once, and its values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from feedmill.model.search_query import (
    And,
    DateRange,
    HasLabel,
    HasMedia,
    HasState,
    InFeeds,
    InLanguage,
    Not,
    Or,
    SearchCondition,
    TextMatch,
)
from feedmill.store.dialect import as_list
from feedmill.store.search.index import place_seconds
from feedmill.store.search.match_syntax import MATCHES, Match, is_text


class ConditionShape(NamedTuple):
    """A condition without its value: `name` says which kind of it, or which parameter holds the value."""

    kind: str
    name: str = ""
    parts: "tuple[ConditionShape, ...]" = ()


class PreparedSearch(NamedTuple):
    """`shape` has all conditions but the words that lead the search, which are in the parameter `match`."""

    has_match: bool
    shape: ConditionShape
    params: dict[str, Any]


def prepare_search(condition: SearchCondition, dialect: str) -> PreparedSearch:
    """The shape and the values of a search in one database's words."""
    parts = list(_flattened(condition))
    texts = [part for part in parts if is_text(part)]
    if texts:
        texts += [part for part in parts if isinstance(part, Not) and is_text(part.part)]
    taking = _ShapeBuilder(MATCHES[dialect])
    shape = ConditionShape("all", parts=tuple(taking.shape(part) for part in parts if part not in texts))
    if texts:
        taking.params["match"] = taking.match(And(tuple(texts)))
    return PreparedSearch(bool(texts), shape, taking.params)


@dataclass(slots=True)
class _ShapeBuilder:
    match: Match
    params: dict[str, Any] = field(default_factory=dict)

    def shape(self, condition: SearchCondition) -> ConditionShape:
        if is_text(condition):
            return ConditionShape("text", self._named(self.match(condition)))
        match condition:
            case Not(part):
                return ConditionShape("not", parts=(self.shape(part),))
            case And(parts):
                return ConditionShape("all", parts=tuple(map(self.shape, parts)))
            case Or(parts):
                return ConditionShape("any", parts=tuple(map(self.shape, parts)))
            case HasState(name) | HasMedia(name):
                return ConditionShape(name)
            case DateRange():
                return self._dated(condition)
            case InLanguage(code):
                return ConditionShape("language", self._named(code))
            case InFeeds(ids):
                return ConditionShape("feeds", self._named(as_list(list(ids))))
            case HasLabel(ids):
                return ConditionShape("labels", self._named(as_list(list(ids))))
            case TextMatch():
                raise TypeError("a text is asked of the index")

    def _dated(self, dated: DateRange) -> ConditionShape:
        ends = (("since", dated.since), ("until", dated.until))
        return ConditionShape(
            "dated", parts=tuple(ConditionShape(kind, self._named(place_seconds(at))) for kind, at in ends if at)
        )

    def _named(self, value: object) -> str:
        name = f"p{len(self.params)}"
        self.params[name] = value
        return name


def _flattened(condition: SearchCondition) -> Iterator[SearchCondition]:
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _flattened(part)
    else:
        yield condition
