"""XML read into a tree, strictly where it is well-formed and with lxml's recovery where it is not.

Neither way opens a file or a connection or expands an entity: documents with a document type declaration are refused
by the first and have lost it before they reach the second.
"""

import contextlib

from lxml import etree

from feedmill.collect.sniff import prologue_end

Element = etree._Element

_MAX_ATTRIBUTES = 50


class IllFormed(Exception):
    """The document is not well-formed XML, or declares what we don't let a parser see."""


def read_strictly(utf8: bytes) -> Element:
    """The root of a well-formed document."""
    if utf8.startswith(b"<!DOCTYPE", prologue_end(utf8)):
        raise IllFormed
    try:
        return etree.fromstring(utf8, _parser(recover=False))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise IllFormed from error


def read_tolerantly(utf8: bytes) -> Element | None:
    """The root of what can be had from a document that read_strictly refuses, or None if that is nothing."""
    with contextlib.suppress(etree.XMLSyntaxError, ValueError):
        return etree.fromstring(utf8, _parser(recover=True))
    return None


def attributes_of(element: Element) -> dict[str, str]:
    """The first attributes of an element. (lxml takes quadratic time for all of them.)"""
    keys: list[str] = element.keys()  # type: ignore[assignment]
    if not keys:
        return {}
    if len(keys) > _MAX_ATTRIBUTES:
        return {key: element.get(key, "") for key in keys[:_MAX_ATTRIBUTES]}
    return dict(element.items())  # type: ignore[arg-type]


def _parser(*, recover: bool) -> etree.XMLParser:
    # resolve_entities is about the five predefined ones: without "internal" they stay unread in attributes.
    # The limits that huge_tree lifts (256 levels, 10 MB of text) stay for whoever is strict; recovery keeps to
    # 2048 levels and takes texts of any length, which is linear.
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        huge_tree=recover,
        resolve_entities="internal",  # type: ignore[arg-type]
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
