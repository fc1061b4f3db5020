"""Splits a search into its shape, for which a statement is compiled once, and its values."""

from collections.abc import Callable, Iterator
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
    RegexMatch,
    SearchCondition,
    TextMatch,
)
from feedmill.store.dialect import as_list
from feedmill.store.search.index_table import place_seconds

MatchText = Callable[[SearchCondition], str]


class ConditionShape(NamedTuple):
    """A condition without its value: `name` is the parameter that holds the value, if it has one."""

    kind: str
    name: str = ""
    parts: "tuple[ConditionShape, ...]" = ()


class PreparedSearch(NamedTuple):
    """`shape` has all conditions except the words of the whole search, which are in the parameter `match`."""

    has_match: bool
    shape: ConditionShape
    params: dict[str, Any]


def prepare_search(condition: SearchCondition, match_text: MatchText) -> PreparedSearch:
    """The shape and the values of a search; `match_text` writes words in the syntax of a database."""
    parts = list(_flattened(condition))
    texts = [part for part in parts if is_text(part)]
    if texts:
        texts += [part for part in parts if isinstance(part, Not) and is_text(part.part)]
    builder = _ShapeBuilder(match_text)
    shape = ConditionShape("all", parts=tuple(builder.shape(part) for part in parts if part not in texts))
    if texts:
        builder.params["match"] = builder.match_text(And(tuple(texts)))
    return PreparedSearch(bool(texts), shape, builder.params)


@dataclass(slots=True)
class _ShapeBuilder:
    match_text: MatchText
    params: dict[str, Any] = field(default_factory=dict)

    def shape(self, condition: SearchCondition) -> ConditionShape:
        if is_text(condition):
            return ConditionShape("text", self._named(self.match_text(condition)))
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
            case TextMatch() | RegexMatch():
                raise TypeError(f"no condition of SQL: {condition!r}")

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


def is_text(condition: SearchCondition) -> bool:
    """Whether a text index can answer this by itself; it can't find texts without a word."""
    match condition:
        case TextMatch():
            return True
        case Or(parts):
            return all(map(is_text, parts))
        case And(parts):
            return any(map(is_text, parts)) and all(is_text(without_not(part)) for part in parts)
        case _:
            return False


def without_not(condition: SearchCondition) -> SearchCondition:
    """The condition that a `Not` is about; any other as it is."""
    return condition.part if isinstance(condition, Not) else condition


def no_text(condition: SearchCondition) -> TypeError:
    """The error of a condition that no text index can answer."""
    return TypeError(f"no text to look for: {condition!r}")
