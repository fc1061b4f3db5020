"""A search taken apart: its shape, for which a statement is built and compiled once, and its values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from feedmill.model.search import (
    Condition,
    Dated,
    Either,
    Every,
    Has,
    Labelled,
    Language,
    OfFeeds,
    State,
    Text,
    Without,
)
from feedmill.store.dialect import as_list
from feedmill.store.search_matches import MATCHES, Match, is_text
from feedmill.store.search_texts import seconds_of


class Shape(NamedTuple):
    """A condition without its value: `name` says which kind of it, or which parameter holds the value."""

    kind: str
    name: str = ""
    parts: "tuple[Shape, ...]" = ()


class Question(NamedTuple):
    """`shape` has all conditions but the words that lead the search, which are in the parameter `match`."""

    has_match: bool
    shape: Shape
    params: dict[str, Any]


def take_apart(condition: Condition, dialect: str) -> Question:
    """The shape and the values of a search in one database's words."""
    parts = list(_flattened(condition))
    texts = [part for part in parts if is_text(part)]
    if texts:
        texts += [part for part in parts if isinstance(part, Without) and is_text(part.part)]
    taking = _Taking(MATCHES[dialect])
    shape = Shape("all", parts=tuple(taking.shape(part) for part in parts if part not in texts))
    if texts:
        taking.params["match"] = taking.match(Every(tuple(texts)))
    return Question(bool(texts), shape, taking.params)


@dataclass(slots=True)
class _Taking:
    match: Match
    params: dict[str, Any] = field(default_factory=dict)

    def shape(self, condition: Condition) -> Shape:
        if is_text(condition):
            return Shape("text", self._named(self.match(condition)))
        match condition:
            case Without(part):
                return Shape("not", parts=(self.shape(part),))
            case Every(parts):
                return Shape("all", parts=tuple(map(self.shape, parts)))
            case Either(parts):
                return Shape("any", parts=tuple(map(self.shape, parts)))
            case State(name) | Has(name):
                return Shape(name)
            case Dated():
                return self._dated(condition)
            case Language(code):
                return Shape("language", self._named(code))
            case OfFeeds(ids):
                return Shape("feeds", self._named(as_list(list(ids))))
            case Labelled(ids):
                return Shape("labels", self._named(as_list(list(ids))))
            case Text():
                raise TypeError("a text is asked of the index")

    def _dated(self, dated: Dated) -> Shape:
        ends = (("since", dated.since), ("until", dated.until))
        return Shape("dated", parts=tuple(Shape(kind, self._named(seconds_of(at))) for kind, at in ends if at))

    def _named(self, value: object) -> str:
        name = f"p{len(self.params)}"
        self.params[name] = value
        return name


def _flattened(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, Every):
        for part in condition.parts:
            yield from _flattened(part)
    else:
        yield condition
