"""Parses XML into an element tree: strictly with expat, else with lxml's recovery.

Neither opens a file or a connection or expands an entity: expat refuses documents with a document type declaration,
and it is removed before lxml gets them. Both return the same kind of tree, in which the name of an element or attribute
is `namespace}local`, or `local` without a namespace.
"""

import contextlib
from itertools import islice
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from lxml import etree

from feedmill.collect.parsing.formats.element_names import LONGEST_NAMESPACE

Attributes = dict[str, str]

NO_ATTRIBUTES: Attributes = {}
_MAX_ATTRIBUTES = 50
_BUFFER = 1 << 13
# Other threads run between two pieces.
_PIECE = 1 << 18


class IllFormed(Exception):
    """The document is not well-formed XML, or has a document type declaration or a very long namespace."""


def read_strictly(utf8: bytes) -> Element:
    """The root of a well-formed document."""
    if utf8[1:2] == b"\0":  # expat takes it for UTF-16, even if an encoding is given
        raise IllFormed
    # The builder's methods are expat's handlers, so no Python code runs while a piece is parsed; pieces are small.
    parser, builder = expat.ParserCreate("utf-8", "}"), TreeBuilder()
    parser.buffer_text, parser.buffer_size = True, _BUFFER
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartNamespaceDeclHandler = _refuse_if_long
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    try:
        for start in range(0, len(utf8) or 1, _PIECE):
            # The last piece is marked as such: an empty one after it would take a quarter longer.
            parser.Parse(utf8[start : start + _PIECE], start + _PIECE >= len(utf8))
    except (expat.ExpatError, UnicodeDecodeError) as error:
        raise IllFormed from error
    return builder.close()


def read_tolerantly(utf8: bytes) -> Element | None:
    """The root of what lxml recovers from a document that `read_strictly` refuses; None if that is nothing."""
    with contextlib.suppress(etree.XMLSyntaxError, ValueError):
        return _as_element_tree(etree.fromstring(utf8, _recovering_parser()))
    return None


def attributes_of(element: Element) -> Attributes:
    """The first attributes of an element; a limit against hostile documents."""
    if not element.keys():
        return NO_ATTRIBUTES
    attributes = element.attrib
    return attributes if len(attributes) <= _MAX_ATTRIBUTES else dict(islice(attributes.items(), _MAX_ATTRIBUTES))


def _refuse(*_: object) -> NoReturn:
    raise IllFormed


def _refuse_if_long(prefix: str | None, namespace: str | None) -> None:
    if namespace and len(namespace) > LONGEST_NAMESPACE:
        raise IllFormed


def _recovering_parser() -> etree.XMLParser:
    # resolve_entities concerns the five predefined ones: without "internal" they are not replaced in attributes.
    # Recovery stops at 2048 levels and, with huge_tree, accepts texts of any length, in linear time.
    return etree.XMLParser(
        encoding="utf-8",
        recover=True,
        huge_tree=True,
        resolve_entities="internal",  # type: ignore[arg-type]
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )


def _as_element_tree(root: etree._Element | None) -> Element | None:
    """Copies lxml's tree into the kind of tree that `read_strictly` returns."""
    if root is None:
        return None
    builder = TreeBuilder()
    for event, node in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            builder.start(_name(node.tag), _recovered_attributes(node))
            builder.data(node.text or "")
        else:
            builder.end(_name(node.tag))
            builder.data(node.tail or "")
    return builder.close()


def _name(tag: Any) -> str:
    return str(tag).removeprefix("{")


def _recovered_attributes(node: etree._Element) -> Attributes:
    """The first attributes of an lxml element; reading all of them takes quadratic time."""
    return {_name(key): node.get(key, "") for key in islice(node.keys(), _MAX_ATTRIBUTES)}
