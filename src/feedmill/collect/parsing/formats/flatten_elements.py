"""Turns markup inside of texts into HTML, and takes apart entries that an unclosed element swallowed."""

from collections import deque
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.child_elements import Fields, fields_of
from feedmill.collect.parsing.formats.element_layout import Layouts
from feedmill.collect.parsing.formats.element_names import CONTAINERS, ENTRIES, NEVER_IN_TEXT, PEOPLE
from feedmill.collect.parsing.formats.inline_html import inner_html, unwrap_div

_MAX_DEPTH = 4


_HTML_TYPES = frozenset({"html", "text/html"})


# Types whose single outer div is not part of the text; in Atom 0.3 it is.
_WRAPPED = frozenset({"xhtml", "application/xhtml+xml", "html"})


_WRAPPED_IN_ATOM_03 = frozenset({"xhtml", "html"})


class FieldReader:
    """Reads the fields of elements, after turning markup inside of texts into HTML.

    `strays` collects entries inside of other entries: an unclosed element must not swallow the entries after it.
    """

    __slots__ = ("_layouts", "_names", "strays")

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self._names = layouts.names
        self.strays: deque[Element] = deque()

    def read(self, element: Element) -> Fields:
        """The fields of an entry or of a whole feed."""
        elements = element[:]
        return fields_of(self._flattened(elements, 0) if any(map(len, elements)) else elements, self._layouts)

    def _flattened(self, elements: Iterable[Element], depth: int) -> list[Element]:
        """The elements as texts and containers only: markup inside of a text becomes HTML."""
        flattened = []
        for element in elements:
            if len(element):
                flattened += self._separated(element, depth)
            else:
                flattened.append(element)
        return flattened

    def _separated(self, element: Element, depth: int) -> list[Element]:
        """An element with children: itself and the elements that it swallowed, or nothing."""
        name = self._names[element.tag]
        if name in ENTRIES:
            self.strays.append(element)
            return []
        if not name or depth >= _MAX_DEPTH:
            return []
        if name not in CONTAINERS:
            return [element, *self._flattened(self._to_html(element), depth + 1)]
        element.text = None
        if any(map(len, element)):
            element[:] = self._flattened(element, depth + 1)
        return [element]

    def _to_html(self, text: Element) -> list[Element]:
        """Turns the elements in a text into HTML and returns those that it swallowed because it was not closed.

        The name of a person is plain text, whatever elements describe it (`foaf:Person`).
        """
        foreign = self._foreign(text)
        kind = text.get("type", "")
        inside = unwrap_div(text) if kind in self._wrapped() and foreign is None else text
        if foreign is None and self._names[text.tag] in PEOPLE:
            html = " ".join("".join(text.itertext()).split())
        else:
            html = inner_html(inside, escaped=kind in _HTML_TYPES, until=foreign)
        swallowed = _from(foreign, text) if foreign is not None else []
        text[:] = []
        text.text = html
        return swallowed

    def _foreign(self, text: Element) -> Element | None:
        """The first element inside of a text that can't be a part of it."""
        names = self._names
        foreign = [node for node in text.iter() if names[node.tag] in NEVER_IN_TEXT]
        return next((node for node in foreign if node is not text), None)

    def _wrapped(self) -> frozenset[str]:
        return _WRAPPED_IN_ATOM_03 if self._names.is_atom_03 else _WRAPPED


def _from(node: Element, ancestor: Element) -> list[Element]:
    """A node and the siblings that follow it."""
    siblings = next(list(parent) for parent in ancestor.iter() if any(child is node for child in parent))
    return siblings[siblings.index(node) :]
