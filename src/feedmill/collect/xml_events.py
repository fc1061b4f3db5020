"""XML read as events, by expat where it is well-formed and by lxml's recovering parser where it is not.

Neither opens a file or a connection, and neither expands an entity: a document type declaration is refused by the
first and cut off before the second sees it.
"""

import contextlib
from collections.abc import Callable
from typing import Protocol
from xml.parsers import expat

from lxml import etree

_BUFFER = 1 << 16


class EventTarget(Protocol):
    """Takes the events: elements are named `namespace}local`, or `local` without a namespace."""

    chunks: list[str]

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...


class IllFormed(Exception):  # noqa: N818
    """The document is not well-formed XML, or declares what we don't let a parser see."""


def read_strictly(utf8: bytes, target: EventTarget) -> None:
    """Send the events of a well-formed document; raise IllFormed at the first fault."""
    parser = expat.ParserCreate("utf-8", "}")
    parser.buffer_text = True
    parser.buffer_size = _BUFFER
    parser.StartElementHandler = target.start
    parser.EndElementHandler = target.end
    parser.CharacterDataHandler = target.chunks.append
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(utf8, True)
    except expat.ExpatError as error:
        raise IllFormed(str(error)) from error


def read_tolerantly(utf8: bytes, target: EventTarget) -> None:
    """Send what events can be had from a document that read_strictly refuses."""
    parser = etree.XMLParser(
        target=_LxmlTarget(target), recover=True, resolve_entities=False, no_network=True, huge_tree=True,
        encoding="utf-8",
    )  # fmt: skip
    with contextlib.suppress(etree.XMLSyntaxError):
        parser.feed(utf8)
        parser.close()


def _refuse(*_: object) -> None:
    raise IllFormed("a document type declaration")


class _LxmlTarget:
    """Speaks lxml's dialect of events: names are `{namespace}local`."""

    def __init__(self, target: EventTarget) -> None:
        self._start, self._end = target.start, target.end
        self.data: Callable[[str], None] = target.chunks.append

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._start(name.removeprefix("{"), {key.removeprefix("{"): value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        self._end(name.removeprefix("{"))

    def close(self) -> None:
        """Asked for by lxml; there is nothing left to do."""
