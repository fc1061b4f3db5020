"""Gives access to the child elements of a feed or entry by name."""

from xml.etree.ElementTree import Element

from msgspec import Struct

from feedmill.collect.parsing.formats.element_layout import Layout, Layouts, layouts_below


class Fields(Struct, frozen=True, gc=False):
    """The child elements of an element, their texts, and their layout.

    The last one is an empty element, which `NOWHERE` points to.
    """

    elements: list[Element]
    texts: list[str]
    layout: Layout

    def get(self, name: str) -> list[Element]:
        """All elements of a name, in document order."""
        return [self.elements[place] for place in self.layout.places.get(name, ())]

    def inside(self, element: Element) -> "Fields":
        """The fields of one of these elements."""
        return fields_of(element[:], self.layout.layouts)


def fields_of(elements: list[Element], layouts: Layouts) -> Fields:
    """Makes fields of a list of elements and keeps the list. Much of the time of parsing is spent here."""
    elements.append(_EMPTY)
    texts = [text.strip() if (text := element.text) else "" for element in elements]
    return Fields(elements, texts, layouts[tuple([element.tag for element in elements])])


_EMPTY = Element("nothing")
NO_FIELDS = fields_of([], layouts_below(""))
