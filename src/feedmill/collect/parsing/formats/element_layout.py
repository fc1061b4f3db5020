"""Caches at which position each named child element stands, for elements with the same children."""

from functools import lru_cache

from msgspec import Struct

from feedmill.collect.parsing.formats.choose_entry_elements import EntryPlan, Places, plan_for
from feedmill.collect.parsing.formats.element_names import ElementNames

MAX_REPEATS = 1_000
# Bounds of the cache, about 40 MB in all: layouts per root, characters per layout, roots.
_MAX_KNOWN = 1_000
_LONGEST_KNOWN = 2_000
_MAX_ROOTS = 8


class Layout(Struct, frozen=True):
    """`places` has the positions of the child elements by name, `plan` which of them an entry is read from."""

    places: Places
    plan: EntryPlan
    layouts: "Layouts"


class Layouts(dict[tuple[str, ...], Layout]):
    """Layouts by the names of the child elements, as they are in the tree, in document order."""

    __slots__ = ("names",)

    def __init__(self, names: ElementNames) -> None:
        self.names = names

    def __missing__(self, elements: tuple[str, ...]) -> Layout:
        places = self._places(elements)
        layout = Layout(places, plan_for(places), self)
        if sum(map(len, elements)) <= _LONGEST_KNOWN:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[elements] = layout
        return layout

    def _places(self, elements: tuple[str, ...]) -> Places:
        found: dict[str, list[int]] = {}
        for place, element in enumerate(elements):
            name = self.names[element]
            if name:
                found.setdefault(name, []).append(place)
        return {name: tuple(places[:MAX_REPEATS]) for name, places in found.items()}


@lru_cache(maxsize=_MAX_ROOTS)
def layouts_below(root_namespace: str) -> Layouts:
    """The layouts of documents with such a root; cached, so that each is computed once."""
    return Layouts(ElementNames(root_namespace))
