"""Converts HTML to Markdown for programs that read text, such as assistants; in one linear pass, up to a length."""

import re
from collections.abc import Callable
from typing import NamedTuple

from feedmill.html.tags import Tag, attributes, decode_text, tags

# What stands before and after the text of these elements.
_MARKERS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("em", "i"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "`"),
}
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_LISTS = frozenset({"ol", "ul"})
_LINES = frozenset({"br", "dd", "dt", "li", "tr"})
_PARAGRAPHS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "center", "details", "div", "dl", "fieldset", "figcaption"),
        *("figure", "footer", "form", "header", "hr", "main", "nav", "p", "pre", "section", "summary", "table"),
        *_HEADINGS,
        *_LISTS,
    }
)
_INVISIBLE = frozenset({"script", "style", "iframe", "noembed", "noframes"})
# Deeper quotes and lists look like the deepest of these, so that the beginning of a line stays short.
_DEEPEST = 6
_LONGEST_URL = 1000
_SPACES = re.compile(r"\s+")

WriteUrl = Callable[[str], str]


class MarkdownText(NamedTuple):
    """`is_cut`: the HTML goes on after the end of the text."""

    text: str
    is_cut: bool


def html_to_markdown(html: str, limit: int, write_url: WriteUrl = str) -> MarkdownText:
    """The first `limit` characters of the HTML as Markdown. Images are their descriptions; `write_url` changes links.

    It stops where the text is long enough, so that the rest of a long article costs nothing.
    """
    writer = _MarkdownWriter(write_url)
    position, hidden = 0, False
    for tag in tags(html):
        if not hidden:
            writer.add_text(html[position : tag.start])
        writer.add_tag(html, tag)
        position, hidden = tag.end, tag.name in _INVISIBLE and not tag.closing
        if writer.length > limit:
            return MarkdownText(writer.text()[:limit], True)
    writer.add_text(html[position:])
    text = writer.text()
    return MarkdownText(text[:limit], len(text) > limit)


class _MarkdownWriter:
    """Holds what was written. Line breaks wait until text follows, so that empty elements leave no empty lines."""

    def __init__(self, write_url: WriteUrl) -> None:
        self.length = 0
        self._pieces: list[str] = []
        self._write_url = write_url
        self._breaks = 0
        self._at_start = True
        self._quotes = 0
        self._preformatted = 0
        # For each open list the number of its last item; None in a list without numbers.
        self._lists: list[int | None] = []
        self._link: str | None = None

    def text(self) -> str:
        return "".join(self._pieces).strip()

    def add_text(self, html: str) -> None:
        text = decode_text(html)
        if self._preformatted:
            text = text.replace("\n", self._line_start())
        else:
            text = _SPACES.sub(" ", text)
            if self._at_start or self._breaks:
                text = text.lstrip()
        if text:
            self._write(text)

    def add_tag(self, html: str, tag: Tag) -> None:
        match tag.name:
            case "a":
                self._end_link()
                if not tag.closing:
                    self._begin_link(attributes(html, tag).get("href", ""))
            case "img":
                if alt := _SPACES.sub(" ", attributes(html, tag).get("alt", "")).strip():
                    self._write(f"[image: {alt}]")
            case "td" | "th":
                self._write(" | " if tag.closing else "")
            case name if name in _MARKERS:
                self._write("" if self._preformatted else _MARKERS[name])
            case name if name in _PARAGRAPHS or name in _LINES:
                self._add_block(tag)

    def _add_block(self, tag: Tag) -> None:
        self._end_link()
        is_within_list = tag.name in _LISTS and self._lists
        # The first paragraph of an item or heading stands beside its mark.
        if not self._at_start or tag.closing or tag.name in _LINES:
            self._breaks = max(self._breaks, 1 if tag.name in _LINES or is_within_list else 2)
        change = -1 if tag.closing else 1
        if tag.name == "blockquote":
            self._quotes = max(self._quotes + change, 0)
        elif tag.name == "pre":
            self._add_fence(change)
        elif tag.name in _LISTS:
            self._change_lists(tag)
        elif not tag.closing:
            self._add_beginning(tag.name)

    def _add_fence(self, change: int) -> None:
        if change > 0:
            self._write("```")
        self._preformatted = max(self._preformatted + change, 0)
        self._breaks = 1
        if change < 0:
            self._write("```")
            self._breaks = 2

    def _change_lists(self, tag: Tag) -> None:
        if not tag.closing:
            self._lists.append(0 if tag.name == "ol" else None)
        elif self._lists:
            self._lists.pop()

    def _add_beginning(self, name: str) -> None:
        if name == "hr":
            self._write("---")
            self._breaks = 2
        elif name == "li":
            number = self._lists[-1] if self._lists else None
            if number is not None:
                self._lists[-1] = number + 1
            self._write("- " if number is None else f"{number + 1}. ")
            self._at_start = True
        elif name in _HEADINGS:
            self._write(_HEADINGS[name])
            self._at_start = True

    def _begin_link(self, href: str) -> None:
        url = href.strip()
        if url and len(url) <= _LONGEST_URL:
            self._link = url
            self._write("[")

    def _end_link(self) -> None:
        if self._link is not None:
            url, self._link = self._link, None
            self._write(f"]({self._write_url(url)})")

    def _line_start(self) -> str:
        return "\n" + "> " * min(self._quotes, _DEEPEST) + "  " * min(max(len(self._lists) - 1, 0), _DEEPEST)

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._breaks and self._pieces:
            text = self._line_start() * self._breaks + text
        elif not self._pieces:
            text = self._line_start()[1:] + text
        self._breaks, self._at_start = 0, False
        self._pieces.append(text)
        self.length += len(text)
