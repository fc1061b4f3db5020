"""Rewrites HTML with allowed tags only, balanced and not too deep: the first pass of sanitizing.

One linear pass over the tags, and the first of two guards: what comes out goes through nh3 as well. On its own nh3
takes 30 s for 100,000 nested `<div>`, and gigabytes for formatting tags that multiply; what comes out of here
holds neither. Values are written from their decoded form, so no odd spelling survives.
"""

import re
from collections.abc import Callable
from html import escape

from feedmill.html.tags import HTML, Tag, attributes, decode_attribute, end_of_raw_text, tags

MAX_DEPTH = 100
"""Tags inside each other; from there on the tags go and the text stays."""

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
# A browser opens these again in each paragraph until they are closed; so each stands open once and is bare.
FORMATTING = frozenset({"b", "code", "em", "i", "s", "small", "strong", "u"})
# Text, in which words may be set off or a line end, and a tag whose attributes are all quoted: nearly all that there
# is, and it can be read at once. Inside a paragraph the text may run on into further ones.
_SPACE = r"[\t\n\f\r ]"
# Each by its name: Python's expressions lose their way with a group inside of what gives nothing back.
_TEXT = "|".join(["[^<]++", "<br>", *[f"<{name}>[^<]*+</{name}>" for name in sorted(FORMATTING)]])
_NAME, _VALUE = r"[a-z][a-z-]*+", r"""(?:"[^"]*+"|'[^']*+')"""
_TAG = rf"<(/?)([a-z][a-z0-9]*+)((?:{_SPACE}++{_NAME}={_VALUE}){{0,30}}+){_SPACE}*+/?>"
_TAME = re.compile(rf"((?:{_TEXT})*+)(?:{_TAG})?")
_TAME_IN_PARAGRAPH = re.compile(rf"((?:{_TEXT}|</p>{_SPACE}*+<p>)*+)(?:{_TAG})?")
_ATTRIBUTES = re.compile(rf"({_NAME})=({_VALUE})")
_NONE: dict[str, str] = {}
# What a browser takes for another tag.
ALIASES = {"image": "img", "amp-img": "img", "strike": "s", "tt": "code", "center": "div"}

# Opening one of these ends an open one of the second, unless one of the third is between.
_ROW, _CELLS = frozenset({"tr"}), frozenset({"td", "th"})
_PARTS = frozenset({"thead", "tbody", "tfoot", "caption", "colgroup"})
_IN_TABLE = frozenset({"table"})
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol"})),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), frozenset({"dl"}))),
    **dict.fromkeys(_CELLS, (_CELLS, _ROW | _IN_TABLE)),
    "tr": (_ROW, _IN_TABLE),
    **dict.fromkeys(_PARTS, (_PARTS | _ROW, _IN_TABLE)),
    "a": (frozenset({"a"}), _CELLS | {"caption"}),
}
# A closing tag does not reach out of a cell, but those of the table itself do.
_WALLS = _CELLS | {"caption", "table"}
_OF_TABLES = _CELLS | _ROW | _PARTS | _IN_TABLE

ChooseAttributes = Callable[[str, dict[str, str]], dict[str, str]]
"""Given a tag's name and attributes: those to write."""


def rewrite_tags(html: str, choose: ChooseAttributes) -> str:
    """The HTML with the tags that we know, each with the attributes that `choose` wants."""
    writer = _Writer(choose)
    position = writer.tame(html, 0)
    while tag := next(tags(html, HTML, position), None):
        writer.text(html[position : tag.start])
        writer.tag(html, tag)
        is_raw = tag.name in HTML.raw_text and not tag.closing
        position = writer.tame(html, end_of_raw_text(html, tag) if is_raw else tag.end)
    writer.text(html[position:])
    return writer.finish()


class _Writer:
    def __init__(self, choose: ChooseAttributes) -> None:
        self._choose = choose
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._shown: set[str] = set()
        self._without_scripts = False

    def text(self, text: str) -> None:
        # A lone "<" that began no tag here must begin none anywhere, whatever comes to stand behind it.
        self._pieces.append(text.replace("<", "&lt;"))

    def tame(self, html: str, position: int) -> int:
        """Writes text and tame tags up to the first tag of another kind; where that is."""
        write, is_open = self._pieces.append, self._open
        while found := (_TAME_IN_PARAGRAPH if is_open and is_open[-1] == "p" else _TAME).match(html, position):
            text, slash, name, quoted = found.groups()
            write(text)
            if name not in ALLOWED_TAGS:
                return found.end(1)
            if slash:
                self._end(name)
            else:
                self._start(name, _read(quoted) if quoted else _NONE)
            position = found.end()
        return position

    def tag(self, html: str, tag: Tag) -> None:
        name = ALIASES.get(tag.name, tag.name)
        if name == "noscript":
            self._without_scripts = not tag.closing
        if name not in ALLOWED_TAGS:
            return
        if tag.closing:
            self._end(name)
        else:
            self._start(name, attributes(html, tag))

    def finish(self) -> str:
        self._close_down_to(0)
        return "".join(self._pieces)

    def _start(self, name: str, found: dict[str, str]) -> None:
        if self._open:
            self._make_way(name)
        chosen = _NONE if name in FORMATTING else self._choose(name, found)
        if name == "img" and not self._is_worth_showing(chosen):
            return
        if name not in VOID:
            if len(self._open) >= MAX_DEPTH or (name in FORMATTING and name in self._open):
                return
            self._open.append(name)
        self._pieces.append(f"<{name}{_written(chosen)}>" if chosen else f"<{name}>")

    def _make_way(self, name: str) -> None:
        """Closes what can't stay open when this one begins."""
        if name in _ENDS and not (ends := _ENDS[name])[0].isdisjoint(self._open):
            self._close_nearest(*ends)
        if name in BLOCKS and self._open and self._open[-1] == "p":
            self._close_down_to(len(self._open) - 1)

    def _end(self, name: str) -> None:
        if self._open and self._open[-1] == name:
            self._open.pop()
            self._pieces.append(f"</{name}>")
            return
        walls = _IN_TABLE - {name} if name in _OF_TABLES else _WALLS
        self._close_nearest(frozenset({name}), walls)

    def _close_nearest(self, names: frozenset[str], walls: frozenset[str]) -> None:
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place] in names:
                self._close_down_to(place)
                return
            if self._open[place] in walls:
                return

    def _close_down_to(self, depth: int) -> None:
        while len(self._open) > depth:
            self._pieces.append(f"</{self._open.pop()}>")

    def _is_worth_showing(self, image: dict[str, str]) -> bool:
        """Not without a source; and what is there for browsers without scripts was mostly shown before."""
        source = image.get("src") or image.get("srcset", "")
        if not source or (self._without_scripts and source in self._shown):
            return False
        self._shown.add(source)
        return True


def _written(attributes: dict[str, str]) -> str:
    written = ""
    for name, value in attributes.items():
        written += f' {name}="{escape(value)}"'
    return written


def _read(quoted: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTES.findall(quoted):
        found.setdefault(name, decode_attribute(value[1:-1]))
    return found
