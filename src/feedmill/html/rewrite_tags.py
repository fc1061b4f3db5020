"""Rewrites HTML with allowed tags only, balanced and not too deep: the first pass of sanitizing.

It is one linear pass over the tags; nh3 is the second pass. nh3 alone takes 30 s for 100,000 nested `<div>`, and
gigabytes for formatting tags that multiply; the output of this pass contains neither. Attribute values are decoded
and encoded again, so no unusual encoding survives.

Frames become links. Formulas keep their MathML; a tag of HTML ends an unclosed one. A drawing (SVG) becomes an image
if there is an address for it, and is left out otherwise.
"""

import re
from collections.abc import Callable
from html import escape

from feedmill.html.embedded_frames import FRAME_TAGS, FrameLink
from feedmill.html.formulas import ANNOTATIONS, FORMULA_ALIASES, FORMULA_TAGS, TOKENS, Fence
from feedmill.html.tags import HTML, Tag, attributes, decode_attribute, end_of_raw_text, is_self_closing, tags

MAX_DEPTH = 100
"""Nesting limit; deeper tags are dropped, and their text is kept."""

# fmt: off
VOID = frozenset({"br", "col", "hr", "img", "source", "wbr"})
INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "rp", "rt",
    "ruby", "s", "samp", "small", "strong", "sub", "sup", "time", "u", "var", "wbr", "br", "img", "picture", "source",
})
BLOCKS = frozenset({
    "article", "aside", "audio", "blockquote", "caption", "col", "colgroup", "dd", "details", "div", "dl", "dt",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol",
    "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "video",
})
# fmt: on
ALLOWED_TAGS = INLINE | BLOCKS
# A browser reopens these in each paragraph until they are closed, so each is open at most once and has no attributes.
FORMATTING = frozenset({"b", "code", "em", "i", "s", "small", "strong", "u"})
# The fast path: text with simple formatting and line breaks, then a tag whose attributes are all quoted. Nearly all
# HTML matches. Inside a paragraph the text may continue into further paragraphs.
_SPACE = r"[\t\n\f\r ]"
# An alternative for each name: Python's `re` mishandles a group inside a possessive quantifier.
_TEXT = "|".join(["[^<]++", "<br>", *[f"<{name}>[^<]*+</{name}>" for name in sorted(FORMATTING)]])
_NAME, _VALUE = r"[a-z][a-z-]*+", r"""(?:"[^"]*+"|'[^']*+')"""
_TAG = rf"<(/?)([a-z][a-z0-9]*+)((?:{_SPACE}++{_NAME}={_VALUE}){{0,30}}+){_SPACE}*+/?>"
_SIMPLE = re.compile(rf"((?:{_TEXT})*+)(?:{_TAG})?")
_SIMPLE_IN_PARAGRAPH = re.compile(rf"((?:{_TEXT}|</p>{_SPACE}*+<p>)*+)(?:{_TAG})?")
_ATTRIBUTES = re.compile(rf"({_NAME})=({_VALUE})")
_NO_ATTRIBUTES: dict[str, str] = {}
# Tags that a browser treats as another tag.
ALIASES = {"image": "img", "amp-img": "img", "strike": "s", "tt": "code", "center": "div"}

# Opening the key closes an open tag of the first set, unless a tag of the second set is in between.
_ROW, _CELLS = frozenset({"tr"}), frozenset({"td", "th"})
_PARTS = frozenset({"thead", "tbody", "tfoot", "caption", "colgroup"})
_IN_TABLE = frozenset({"table"})
_IMPLIED_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol"})),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), frozenset({"dl"}))),
    **dict.fromkeys(_CELLS, (_CELLS, _ROW | _IN_TABLE)),
    "tr": (_ROW, _IN_TABLE),
    **dict.fromkeys(_PARTS, (_PARTS | _ROW, _IN_TABLE)),
    "a": (frozenset({"a"}), _CELLS | {"caption"}),
}
# A closing tag closes nothing outside its cell, except the tags of the table itself.
_SCOPES = _CELLS | {"caption", "table"}
_TABLE_TAGS = _CELLS | _ROW | _PARTS | _IN_TABLE

# Tags that end an unclosed drawing; those of its own are among the others.
_ENDS_DRAWING = BLOCKS | FORMATTING | {"br", "img", "ruby", "sub", "sup", "var"}
_HTML_IN_DRAWINGS = frozenset({"foreignobject", "desc"})

# Each of them is looked for in the whole text when it is loaded.
MAX_DRAWINGS = 50

ChooseAttributes = Callable[[str, dict[str, str]], dict[str, str]]
"""Given a tag's name and attributes, returns the attributes to write."""
LinkFrame = Callable[[str, dict[str, str]], FrameLink | None]
"""Given the name and attributes of a frame, returns the link to write in its place."""
DrawingImage = Callable[[int, dict[str, str]], dict[str, str] | None]
"""Given the number of a drawing and its attributes, returns the attributes of the image to write in its place."""


def rewrite_tags(
    html: str,
    choose: ChooseAttributes,
    link_frame: LinkFrame = lambda _tag, _found: None,
    drawing_image: DrawingImage = lambda _number, _found: None,
) -> str:
    """Returns the HTML with allowed tags only, each with the attributes that `choose` returns."""
    return _write(html, _Writer(choose, link_frame, drawing_image)).finish()


def find_drawing(html: str, number: int) -> str | None:
    """The part of the HTML with that drawing, by the number that `rewrite_tags` gives it; None if there is none."""
    spans = _write(html, _Writer(lambda _tag, found: found)).drawing_spans
    return html[slice(*spans[number])] if 0 <= number < len(spans) else None


def _write(html: str, writer: "_Writer") -> "_Writer":
    position = writer.simple_tags(html, 0)
    while tag := next(tags(html, HTML, position), None):
        writer.text(html[position : tag.start])
        writer.tag(html, tag)
        is_raw = tag.name in HTML.raw_text and not tag.closing
        position = writer.simple_tags(html, end_of_raw_text(html, tag) if is_raw else tag.end)
    writer.text(html[position:])
    return writer


class _Writer:
    def __init__(
        self,
        choose: ChooseAttributes,
        link_frame: LinkFrame = lambda _tag, _found: None,
        drawing_image: DrawingImage = lambda _number, _found: None,
    ) -> None:
        self._choose, self._link_frame, self._drawing_image = choose, link_frame, drawing_image
        self.drawing_spans: list[tuple[int, int]] = []
        self._shown_drawings = 0
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._image_sources: set[str] = set()
        self._frame_urls: set[str] = set()
        self._in_noscript = False
        self._formula = 0  # where the last formula stands among the open tags
        self._fences: dict[int, Fence] = {}  # by the place of their elements among the open tags
        self._in_annotation = False
        self._drawings = self._html_in_drawing = 0  # how many are open

    def text(self, text: str) -> None:
        # A lone "<" that starts no tag here must not start one in the output, whatever follows it there.
        if not self._drawings and not self._in_annotation:
            self._pieces.append(text.replace("<", "&lt;"))

    def simple_tags(self, html: str, position: int) -> int:
        """Writes text and simple tags up to the first other tag, and returns its position."""
        write, is_open = self._pieces.append, self._open
        if self._drawings or self._in_formula():
            return position
        while found := (_SIMPLE_IN_PARAGRAPH if is_open and is_open[-1] == "p" else _SIMPLE).match(html, position):
            text, slash, name, quoted = found.groups()
            write(text)
            if name not in ALLOWED_TAGS:
                return found.end(1)
            if slash:
                self._end(name)
            else:
                self._start(name, _parse_attributes(quoted) if quoted else _NO_ATTRIBUTES)
            position = found.end()
        return position

    def tag(self, html: str, tag: Tag) -> None:
        name = ALIASES.get(tag.name, tag.name)
        if name == "noscript":
            self._in_noscript = not tag.closing
        if (self._drawings and self._drawing_tag(tag)) or (self._in_formula() and self._formula_tag(html, tag)):
            return
        if name in ALLOWED_TAGS:
            self._end(name) if tag.closing else self._start(name, attributes(html, tag))
        elif tag.closing:
            return
        elif name == "svg" and not is_self_closing(html, tag):
            self._drawings = 1
            image = self._drawing_image(len(self.drawing_spans), attributes(html, tag))
            if image and self._shown_drawings < MAX_DRAWINGS:
                self._shown_drawings += 1
                self._start("img", image)
            self.drawing_spans.append((tag.start, len(html)))
        elif name == "math":
            self._formula = len(self._open)
            self._start(name, attributes(html, tag))
        elif name in FRAME_TAGS:
            self._frame(name, attributes(html, tag))

    def finish(self) -> str:
        self._close_down_to(0)
        return "".join(self._pieces)

    def _start(self, name: str, found: dict[str, str]) -> None:
        if self._open:
            self._close_implied(name)
        chosen = _NO_ATTRIBUTES if name in FORMATTING else self._choose(name, found)
        if name == "img" and not self._is_worth_showing(chosen):
            return
        if name not in VOID:
            if len(self._open) >= MAX_DEPTH or (name in FORMATTING and name in self._open):
                return
            self._open.append(name)
        self._pieces.append(f"<{name}{_format_attributes(chosen)}>" if chosen else f"<{name}>")

    def _frame(self, name: str, found: dict[str, str]) -> None:
        """Writes a link in place of a frame, once for each address."""
        link = self._link_frame(name, found)
        if link is None or link.page_url in self._frame_urls:
            return
        self._frame_urls.add(link.page_url)
        self._start("a", {"href": link.page_url, "data-frame": link.frame_url})
        self._pieces.append(escape(link.text))
        self._end("a")

    def _in_formula(self) -> bool:
        return self._formula < len(self._open) and self._open[self._formula] == "math"

    def _formula_tag(self, html: str, tag: Tag) -> bool:
        """Writes or drops a tag inside a formula; False if the formula ends before it."""
        name = FORMULA_ALIASES.get(tag.name, tag.name)
        if name in BLOCKS or (name in INLINE and self._open[-1] not in TOKENS and not tag.closing):
            self._in_annotation = False
            self._close_down_to(self._formula)
            return False
        if name in ANNOTATIONS:
            self._in_annotation = not tag.closing and not is_self_closing(html, tag)
        elif tag.closing and name in FORMULA_TAGS:
            self._in_annotation = self._in_annotation and name not in ("semantics", "math")
            self._end(name)
        elif name in FORMULA_TAGS and name != "math" and not self._in_annotation and self._open[-1] not in TOKENS:
            self._start_in_formula(html, tag, name)
        return True

    def _start_in_formula(self, html: str, tag: Tag, name: str) -> None:
        found = attributes(html, tag)
        if fence := self._fences.get(len(self._open) - 1):
            self._pieces.append(fence.before_part())
        depth = len(self._open)
        self._start(name, found)
        if tag.name == "mfenced" and len(self._open) > depth:
            fence = self._fences[depth] = Fence(found)
            self._pieces.append(fence.opening)
        if is_self_closing(html, tag):
            self._close_down_to(depth)

    def _drawing_tag(self, tag: Tag) -> bool:
        """Drops a tag inside a drawing; False if the drawing ends before it."""
        step = -1 if tag.closing else 1
        if tag.name == "svg":
            self._drawings += step
        elif tag.name in _HTML_IN_DRAWINGS:
            self._html_in_drawing = max(0, self._html_in_drawing + step)
        elif tag.name in _ENDS_DRAWING and not tag.closing and not self._html_in_drawing:
            self._drawings = 0
        if not self._drawings:
            self._html_in_drawing = 0
            self.drawing_spans[-1] = (self.drawing_spans[-1][0], tag.end if tag.name == "svg" else tag.start)
        return bool(self._drawings) or tag.name == "svg"

    def _close_implied(self, name: str) -> None:
        """Closes the tags that this one implicitly ends."""
        if name in _IMPLIED_ENDS and not (ends := _IMPLIED_ENDS[name])[0].isdisjoint(self._open):
            self._close_nearest(*ends)
        if name in BLOCKS and self._open and self._open[-1] == "p":
            self._close_down_to(len(self._open) - 1)

    def _end(self, name: str) -> None:
        if self._open and self._open[-1] == name:
            self._close_down_to(len(self._open) - 1)
            return
        scopes = _IN_TABLE - {name} if name in _TABLE_TAGS else _SCOPES
        self._close_nearest(frozenset({name}), scopes)

    def _close_nearest(self, names: frozenset[str], scopes: frozenset[str]) -> None:
        for depth in range(len(self._open) - 1, -1, -1):
            if self._open[depth] in names:
                self._close_down_to(depth)
                return
            if self._open[depth] in scopes:
                return

    def _close_down_to(self, depth: int) -> None:
        while len(self._open) > depth:
            name = self._open.pop()
            if self._fences and (fence := self._fences.pop(len(self._open), None)):
                self._pieces.append(fence.closing)
            self._pieces.append(f"</{name}>")

    def _is_worth_showing(self, image: dict[str, str]) -> bool:
        """False without a source, and for the copy in `noscript` of an image that was written before."""
        source = image.get("src") or image.get("srcset", "")
        if not source or (self._in_noscript and source in self._image_sources):
            return False
        self._image_sources.add(source)
        return True


def _format_attributes(attributes: dict[str, str]) -> str:
    written = ""
    for name, value in attributes.items():
        written += f' {name}="{escape(value)}"'
    return written


def _parse_attributes(quoted: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTES.findall(quoted):
        found.setdefault(name, decode_attribute(value[1:-1]))
    return found
