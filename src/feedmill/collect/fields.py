"""The elements inside an entry, a feed or a smaller element, by name."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from feedmill.collect.formats.names import CONTAINERS, ENTRIES, NEVER_IN_TEXT, Names
from feedmill.collect.markup import html_inside, without_wrapper
from feedmill.collect.xml_tree import NO_ATTRIBUTES, Attributes, attributes_of

MAX_REPEATS = 1_000
_MAX_DEPTH = 4
_HTML_TYPES = frozenset({"html", "text/html"})
# Types whose one div around everything is no part of the text; Atom 0.3 does count it.
_WRAPPED = frozenset({"xhtml", "application/xhtml+xml", "html"})
_WRAPPED_IN_ATOM_03 = frozenset({"xhtml", "html"})


class Fields(NamedTuple):
    """`plain` has the text of the first element of a name if that is nothing but a text, `rich` all the others.

    They are apart because most elements are plain, and reading must be quick.
    """

    plain: dict[str, str]
    rich: dict[str, list["Field"]]

    def get(self, name: str) -> Sequence["Field"]:
        """All elements of a name, the plain one first."""
        rich = self.rich.get(name, ())
        return [(NO_ATTRIBUTES, self.plain[name], NO_FIELDS), *rich] if name in self.plain else rich

    def add(self, name: str, field: "Field") -> None:
        earlier = self.rich.get(name)
        if earlier is None:
            self.rich[name] = [field]
        elif len(earlier) < MAX_REPEATS:
            earlier.append(field)


# An element's attributes, its text, and the elements inside it.
Field = tuple[Attributes, str, Fields]
NO_FIELDS = Fields({}, {})


class FieldReader:
    """Reads the fields of one document's elements.

    `strays` collects the entries met inside others: an unclosed element must not swallow the entries after it.
    """

    __slots__ = ("names", "strays")

    def __init__(self, names: Names) -> None:
        self.names = names
        self.strays: deque[Element] = deque()

    def read(self, element: Element) -> Fields:
        """The fields of an entry or another element that is read with its children."""
        fields = Fields({}, {})
        self.read_all(element, fields, 0)
        return fields

    def read_all(self, elements: Sequence[Element] | Element, fields: Fields, depth: int) -> None:
        """Add elements to the fields of the one that they are in. (This loop is most of the work of reading.)"""
        names, (plain, rich) = self.names, fields
        for child in elements:
            name = names[child.tag]
            if not name:
                continue
            if len(child) or name in CONTAINERS:
                self._read_complex(child, name, fields, depth)
                continue
            text = child.text
            text = text.strip() if text else ""
            attributes = attributes_of(child) if child.keys() else NO_ATTRIBUTES
            if name in rich:
                fields.add(name, (attributes, text, NO_FIELDS))
            elif attributes or name in plain:
                rich[name] = [(attributes, text, NO_FIELDS)]
            else:
                plain[name] = text

    def _read_complex(self, element: Element, name: str, fields: Fields, depth: int) -> None:
        if name in ENTRIES:
            self.strays.append(element)
        elif depth >= _MAX_DEPTH:
            return
        elif name in CONTAINERS:
            inner = Fields({}, {})
            self.read_all(element, inner, depth + 1)
            text = "" if len(element) else (element.text or "").strip()
            fields.add(name, (attributes_of(element), text, inner))
        else:
            self._read_markup(element, name, fields, depth)

    def _read_markup(self, element: Element, name: str, fields: Fields, depth: int) -> None:
        attributes = attributes_of(element)
        foreign = self._foreign(element)
        kind = attributes.get("type", "")
        inside = without_wrapper(element) if kind in self._wrapped() and foreign is None else element
        text = html_inside(inside, escaped=kind in _HTML_TYPES, until=foreign)
        fields.add(name, (attributes, text, NO_FIELDS))
        if foreign is not None:  # the text was never closed: what it swallowed belongs beside it
            self.read_all(_from(foreign, element), fields, depth + 1)

    def _foreign(self, text: Element) -> Element | None:
        """The first element inside a text that can't be one of its own."""
        inside = (node for node in text.iter() if self.names[node.tag] in NEVER_IN_TEXT)
        return next((node for node in inside if node is not text), None)

    def _wrapped(self) -> frozenset[str]:
        return _WRAPPED_IN_ATOM_03 if self.names.is_atom_03 else _WRAPPED


def _from(node: Element, ancestor: Element) -> list[Element]:
    """A node and the siblings that follow it."""
    siblings = next(list(parent) for parent in ancestor.iter() if any(child is node for child in parent))
    return siblings[siblings.index(node) :]
