"""Splits a search into its shape, for which a statement is compiled once, and its values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

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


class ConditionShape(NamedTuple):
    """A condition without its value: `name` is the parameter that holds the value, if it has one.

    A condition of words (`text`) has one part that says the same of phrases, if the database compares phrases: an
    `all`, `any` or `not` of parts, or for a `TextMatch` its field, or `word` or `phrase` if it is about all fields. The
    parameter of these is the phrase as it stands in a text of words, between spaces; a prefix has no space behind it.
    """

    kind: str
    name: str = ""
    parts: "tuple[ConditionShape, ...]" = ()


class TextSyntax(Protocol):
    """How a database looks for words."""

    compares_phrases: bool
    """Whether its conditions of words are made of phrases that it looks for in the text."""

    def match_text(self, condition: SearchCondition) -> str:
        """Words and phrases in the full-text syntax of the database; raises `TypeError` for other conditions."""


class PreparedSearch(NamedTuple):
    """`shape` has all conditions except the words of the whole search, which are in `match`."""

    match: ConditionShape | None
    shape: ConditionShape
    params: dict[str, Any]


def prepare_search(condition: SearchCondition, syntax: TextSyntax) -> PreparedSearch:
    """The shape and the values of a search."""
    parts = list(_flattened(condition))
    texts = [part for part in parts if is_text(part)]
    if texts:
        texts += [part for part in parts if isinstance(part, Not) and is_text(part.part)]
    builder = _ShapeBuilder(syntax)
    shape = ConditionShape("all", parts=tuple(builder.shape(part) for part in parts if part not in texts))
    match = builder.text(And(tuple(texts)), "match") if texts else None
    return PreparedSearch(match, shape, builder.params)


@dataclass(slots=True)
class _ShapeBuilder:
    syntax: TextSyntax
    params: dict[str, Any] = field(default_factory=dict)

    def shape(self, condition: SearchCondition) -> ConditionShape:
        if is_text(condition):
            return self.text(condition, f"p{len(self.params)}")
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

    def text(self, condition: SearchCondition, name: str) -> ConditionShape:
        """The shape of a condition of words; its value gets this name."""
        self.params[name] = self.syntax.match_text(condition)
        return ConditionShape("text", name, (self._phrases(condition),) if self.syntax.compares_phrases else ())

    def _phrases(self, condition: SearchCondition) -> ConditionShape:
        match condition:
            case Not(part):
                return ConditionShape("not", parts=(self._phrases(part),))
            case And(parts):
                return ConditionShape("all", parts=tuple(map(self._phrases, parts)))
            case Or(parts):
                return ConditionShape("any", parts=tuple(map(self._phrases, parts)))
            case TextMatch(words, scope, prefix):
                kind = ("word" if len(words) == 1 else "phrase") if scope == "any" else scope
                return ConditionShape(kind, self._named(f" {' '.join(words)}{'' if prefix else ' '}"))
        raise no_text(condition)

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
