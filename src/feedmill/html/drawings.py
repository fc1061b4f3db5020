"""Writes a drawing of an article (inline SVG) as a document of its own, which pages show as an image.

A browser runs no script of an image and loads nothing for it. This leaves out what could act anyway: scripts, events,
links, HTML and other addresses, and references inside of references, which could multiply without end.
"""

import re
from html import escape

from feedmill.html.tags import Tag, attributes, decode_text, is_self_closing, tags

MAX_LENGTH = 400_000
MAX_DEPTH = 100
MAX_USES = 2000

# fmt: off
_NAMES = (
    "circle", "clipPath", "defs", "desc", "ellipse", "g", "line", "linearGradient", "marker", "mask", "path", "polygon",
    "polyline", "radialGradient", "rect", "stop", "style", "svg", "symbol", "text", "textPath", "title", "tspan", "use",
)
_CASED_ATTRIBUTES = (
    "clipPathUnits", "gradientTransform", "gradientUnits", "lengthAdjust", "markerHeight", "markerUnits", "markerWidth",
    "maskContentUnits", "maskUnits", "pathLength", "preserveAspectRatio", "refX", "refY", "spreadMethod", "startOffset",
    "textLength", "viewBox",
)
# fmt: on
_TAGS = {name.lower(): name for name in _NAMES}
_ATTRIBUTES = {name.lower(): name for name in _CASED_ATTRIBUTES}
_ATTRIBUTE_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
# What is inside of these is drawn where others refer to it.
_REFERRED = frozenset({"clipPath", "marker", "mask", "symbol"})
_WITHOUT_CONTENT = frozenset({"script", "foreignobject", "iframe", "noembed", "noframes", "xmp", "textarea"})
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OWN_REFERENCE = re.compile(r"\s*url\(\s*['\"]?#[\w.:-]{1,100}['\"]?\s*\)\s*")
_LENGTH = re.compile(r"([0-9]{1,5})(?:\.[0-9]{1,6})?(?:px)?")
_VIEW_BOX = re.compile(r"\s*-?[0-9.]{1,12}[\s,]+-?[0-9.]{1,12}[\s,]+([0-9]{1,5})[0-9.]*[\s,]+([0-9]{1,5})[0-9.]*\s*")
# Icons belong to the page around an article, and say nothing in it.
_LARGEST_ICON = 48


def drawing_size(found: dict[str, str]) -> tuple[int, int] | None:
    """The width and height of a drawing with these attributes; None for an icon, and for what has no size."""
    if found.get("aria-hidden") == "true":
        return None
    width, height = _LENGTH.fullmatch(found.get("width", "")), _LENGTH.fullmatch(found.get("height", ""))
    box = _VIEW_BOX.fullmatch(found.get("viewbox", "")[:100])
    if width and height:
        size = int(width[1]), int(height[1])
    elif box:
        size = int(box[1]), int(box[2])
    else:
        return None
    return size if max(size) > _LARGEST_ICON and min(size) > 0 else None


def svg_document(html: str) -> str | None:
    """The drawing in this part of an article's HTML, as a document; None if there is none, or if it is too long."""
    if len(html) > MAX_LENGTH:
        return None
    writer = _DrawingWriter()
    position = 0
    for tag in tags(html):
        writer.text(html[position : tag.start])
        writer.tag(html, tag)
        position = tag.end
    return writer.finish()


class _DrawingWriter:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._ids: list[str] = []  # of the open elements
        self._skipped: str | None = None
        self._uses: list[tuple[int, str]] = []  # the place of each among the pieces, and what it refers to
        self._ids_with_uses: set[str] = set()

    def text(self, text: str) -> None:
        if self._open and not self._skipped and not (self._open[-1] == "style" and "url(" in text.lower()):
            self._pieces.append(_escaped(decode_text(text) if self._open[-1] != "style" else text))

    def tag(self, html: str, tag: Tag) -> None:
        if self._skipped or tag.name in _WITHOUT_CONTENT:
            self._skip(tag, is_self_closing(html, tag))
            return
        name = _TAGS.get(tag.name)
        if name is None:
            return
        if tag.closing:
            self._close(name)
        elif name == "use":
            self._use(attributes(html, tag))
        elif (self._open or name == "svg") and len(self._open) < MAX_DEPTH:
            self._start(name, attributes(html, tag))
            if is_self_closing(html, tag):
                self._close(name)

    def finish(self) -> str | None:
        while self._open:
            self._pieces.append(f"</{self._open.pop()}>")
        for place, target in self._uses:
            if target in self._ids_with_uses:
                self._pieces[place] = ""
        return "".join(self._pieces) or None

    def _use(self, found: dict[str, str]) -> None:
        """Writes a reference; one to an element that itself contains references is removed at the end."""
        safe = self._safe_attributes(found)
        if not self._open or self._is_referred() or "href" not in safe or len(self._uses) == MAX_USES:
            return
        self._uses.append((len(self._pieces), safe["href"][1:]))
        self._ids_with_uses.update(self._ids)
        self._pieces.append(f"<use{_written(safe)}/>")

    def _skip(self, tag: Tag, is_empty: bool) -> None:
        if self._skipped is None:
            self._skipped = None if tag.closing or is_empty else tag.name
        elif tag.closing and tag.name == self._skipped:
            self._skipped = None

    def _is_referred(self) -> bool:
        return not _REFERRED.isdisjoint(self._open)

    def _start(self, name: str, found: dict[str, str]) -> None:
        namespace = "" if self._open else ' xmlns="http://www.w3.org/2000/svg"'
        self._open.append(name)
        self._ids.append(found.get("id", ""))
        self._pieces.append(f"<{name}{namespace}{_written(self._safe_attributes(found))}>")

    def _safe_attributes(self, found: dict[str, str]) -> dict[str, str]:
        safe: dict[str, str] = {}
        for name, value in found.items():
            if name in ("href", "xlink:href"):
                if value.startswith("#"):
                    safe["href"] = value
            elif _ATTRIBUTE_NAME.fullmatch(name) and not name.startswith(("on", "xmlns")) and self._is_safe(value):
                safe[_ATTRIBUTES.get(name, name)] = value
        return safe

    def _is_safe(self, value: str) -> bool:
        if "(" not in value or "url" not in value.lower():
            return "\\" not in value
        return _OWN_REFERENCE.fullmatch(value) is not None and not self._is_referred()

    def _close(self, name: str) -> None:
        if name not in self._open:
            return
        while self._open:
            closed = self._open.pop()
            self._ids.pop()
            self._pieces.append(f"</{closed}>")
            if closed == name:
                return


def _written(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{_escaped(value)}"' for name, value in attributes.items())


def _escaped(text: str) -> str:
    return escape(_NOT_IN_XML.sub("", text))
