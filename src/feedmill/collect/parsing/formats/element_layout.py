"""Caches at which position each named child element stands, for elements with the same children."""

from functools import lru_cache

from msgspec import Struct

from feedmill.collect.parsing.formats.element_names import ElementNames
from feedmill.collect.parsing.formats.entry_plan import EntryPlan, Places, plan_for

MAX_REPEATS = 1_000
# No document can make us remember more than some 40 MB: these layouts, of so many characters, below so many roots.
_MAX_KNOWN = 1_000
_LONGEST_KNOWN = 2_000
_MAX_ROOTS = 8


class Layout(Struct, frozen=True):
    """`places` has the places of each name that somebody reads, `plan` what they mean if this is an entry."""

    places: Places
    plan: EntryPlan
    layouts: "Layouts"


class Layouts(dict[tuple[str, ...], Layout]):
    """Looks up elements as the tree names them, in their order."""

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
    """The layouts in documents with such a root; they share them, so that each is found out once."""
    return Layouts(ElementNames(root_namespace))
