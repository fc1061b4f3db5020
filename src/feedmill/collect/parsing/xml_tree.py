"""Parses XML into an element tree: strictly with expat, else with lxml's recovery.

Neither way opens a file or a connection or expands an entity: documents with a document type declaration are refused
by the first and have lost it before they reach the second. Both give the same kind of tree, in which an element or
attribute is called `namespace}local`, or `local` where it is in none.
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
# Between two pieces other threads get their turn.
_PIECE = 1 << 18


class IllFormed(Exception):
    """The document is not well-formed XML, or declares what we don't let a parser see."""


def read_strictly(utf8: bytes) -> Element:
    """The root of a well-formed document."""
    if utf8[1:2] == b"\0":  # expat would take it for UTF-16, whatever it is told
        raise IllFormed
    # The builder's methods are expat's handlers: no line of Python runs while a piece is read, so pieces are small.
    parser, builder = expat.ParserCreate("utf-8", "}"), TreeBuilder()
    parser.buffer_text, parser.buffer_size = True, _BUFFER
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartNamespaceDeclHandler = _refuse_if_long
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    try:
        for start in range(0, len(utf8) or 1, _PIECE):
            # Expat is told at once which piece is the last: an empty one after it would cost a quarter more.
            parser.Parse(utf8[start : start + _PIECE], start + _PIECE >= len(utf8))
    except (expat.ExpatError, UnicodeDecodeError) as error:
        raise IllFormed from error
    return builder.close()


def read_tolerantly(utf8: bytes) -> Element | None:
    """The root of what can be had from a document that read_strictly refuses, or None if that is nothing."""
    with contextlib.suppress(etree.XMLSyntaxError, ValueError):
        return _rebuilt(etree.fromstring(utf8, _recovering()))
    return None


def attributes_of(element: Element) -> Attributes:
    """The first attributes of an element; whoever writes more than these means no good."""
    if not element.keys():
        return NO_ATTRIBUTES
    attributes = element.attrib
    return attributes if len(attributes) <= _MAX_ATTRIBUTES else dict(islice(attributes.items(), _MAX_ATTRIBUTES))


def _refuse(*_: object) -> NoReturn:
    raise IllFormed


def _refuse_if_long(prefix: str | None, namespace: str | None) -> None:
    if namespace and len(namespace) > LONGEST_NAMESPACE:
        raise IllFormed


def _recovering() -> etree.XMLParser:
    # resolve_entities is about the five predefined ones: without "internal" they stay unread in attributes.
    # Recovery keeps to 2048 levels and, with huge_tree, takes texts of any length, which is linear.
    return etree.XMLParser(
        encoding="utf-8",
        recover=True,
        huge_tree=True,
        resolve_entities="internal",  # type: ignore[arg-type]
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )


def _rebuilt(root: etree._Element | None) -> Element | None:
    """lxml's tree as the strict way builds it."""
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


def _name(written: Any) -> str:
    return str(written).removeprefix("{")


def _recovered_attributes(node: etree._Element) -> Attributes:
    """The first attributes of lxml's element, which takes quadratic time for all of them."""
    return {_name(key): node.get(key, "") for key in islice(node.keys(), _MAX_ATTRIBUTES)}
