"""Splits HTML, or broken XML, into tags in one linear pass, without building a tree.

Follows the tokenizer of the HTML standard, so it finds the tags that a browser finds. Unlike tree builders it can't
be slowed down by nesting, and it knows the position of each tag in the text.
"""

import html
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html.entities import html5
from typing import NamedTuple

MAX_ATTRIBUTES = 1000

_SPACE = r"\t\n\f\r "
_NAME = rf"[^{_SPACE}/>][^{_SPACE}/>=]*+"
# An unclosed quote runs to the end of the text, where no ">" follows; then the whole tag does not match.
_VALUE = rf"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|(?!["'])[^{_SPACE}>]*+)"""
_EQUALS = rf"[{_SPACE}]*+=[{_SPACE}]*+"
_ATTRIBUTE_TEXT = rf"[{_SPACE}/]*+(?:{_NAME}{_EQUALS}{_VALUE}|{_NAME}(?![{_SPACE}]*+=))"

_OPENING = re.compile(rf"<(?:(/?)([A-Za-z][^{_SPACE}/>]*+)|[!?]|/(?!\Z))")
# The count is bounded because the regex engine keeps a frame for each repetition.
_FEW_ATTRIBUTES = re.compile(rf"(?:{_ATTRIBUTE_TEXT}){{0,60}}[{_SPACE}/]*+>")
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE_TEXT)
_TAG_END = re.compile(rf"[{_SPACE}/]*+>")
_ATTRIBUTE = re.compile(rf"[{_SPACE}/]*+({_NAME})(?:{_EQUALS}({_VALUE}))?")
_COMMENT_END = re.compile(r"--!?>")

_REFERENCE = re.compile(r"&(?:#(?:[0-9]{1,8}|[xX][0-9a-fA-F]{1,8});?|([A-Za-z][A-Za-z0-9]{1,31}+)(?:;|(?!=)))")
_OVERLONG_NUMBER = re.compile(r"&#[0-9]{1000,};?")


@dataclass(frozen=True)
class TagSyntax:
    """The differences between HTML and XML for the tokenizer. A tag ends before the next match of `boundary`."""

    raw_text: frozenset[str]
    cdata: bool
    longest_tag: int
    boundary: re.Pattern[str] | None = None

    def limit(self, text: str, start: int, name_end: int) -> int:
        """The position at which a tag that begins at `start` must have ended."""
        limit = min(len(text), start + self.longest_tag)
        following = self.boundary.search(text, name_end, limit) if self.boundary else None
        return following.start() if following else limit


HTML = TagSyntax(
    raw_text=frozenset({"script", "style", "iframe", "noembed", "noframes", "xmp", "textarea", "title"}),
    cdata=False,
    longest_tag=sys.maxsize,
)
# The bounds let the repair of broken OPML resume after an unclosed quote without reading to the end each time.
XML = TagSyntax(
    raw_text=frozenset(), cdata=True, longest_tag=20_000, boundary=re.compile(rf"<outline[{_SPACE}/>]", re.I)
)

_RAW_TEXT_END = {name: re.compile(rf"</(?={name}[{_SPACE}/>])", re.I) for name in HTML.raw_text}


class Tag(NamedTuple):
    """A tag's position in the text; `name` is lower case, or `!` for a comment, declaration or unfinished tag."""

    name: str
    start: int
    end: int
    name_end: int = 0
    closing: bool = False


def tags(text: str, rules: TagSyntax = HTML, start: int = 0) -> Iterator[Tag]:
    """Yields every tag and comment from `start` on, in order; everything between two of them is text.

    An unfinished tag, comment or raw text element becomes one `!` that reaches to the end.
    """
    position = start
    while found := _OPENING.search(text, position):
        tag = _tag_at(text, found, rules)
        yield tag
        position = tag.end
        if tag.name in rules.raw_text and not tag.closing:
            position = end_of_raw_text(text, tag)
            if position == len(text):
                yield Tag("!", tag.end, position)
                return


def find_tags(text: str, names: frozenset[str]) -> Iterator[Tag]:
    """Yields the opening tags of those names that `tags` would yield for HTML, several times as fast."""
    skip = _skip_pattern(names | HTML.raw_text)
    position = 0
    while position < len(text):
        skipped = skip.match(text, position)
        if skipped and skipped.end() > position:
            position = skipped.end()
            continue
        # Everything that the skip pattern does not match is tokenized one tag at a time.
        tag = next(tags(text, HTML, position), None)
        if tag is None:
            return
        position = tag.end
        if tag.name in HTML.raw_text and not tag.closing:
            position = end_of_raw_text(text, tag)
        if tag.name in names and not tag.closing:
            yield tag


def end_of_raw_text(text: str, tag: Tag) -> int:
    """Returns where the closing tag of a raw text element begins; the end of the text when there is none."""
    closing = _RAW_TEXT_END[tag.name].search(text, tag.end)
    return closing.start() if closing else len(text)


@cache
def _skip_pattern(names: frozenset[str]) -> re.Pattern[str]:
    """A pattern of text and tags of other names, as long as their quotes are balanced and contain no `<` or `>`."""
    other = rf"</?(?!(?:{'|'.join(sorted(names))})[{_SPACE}/>])[A-Za-z][A-Za-z0-9]*+"
    simple = rf"""(?:[^<>"'=]++|=[{_SPACE}]*+(?:"[^"<>]*+"|'[^'<>]*+')?+)"""
    return re.compile(rf"(?:[^<]++|{other}(?:[{_SPACE}/]{simple}{{0,60}})?+>){{1,200}}+", re.I)


def attributes(text: str, tag: Tag) -> dict[str, str]:
    """Reads a tag's attributes: names in lower case, values decoded, the first of a repeated name."""
    found: dict[str, str] = {}
    position = tag.name_end
    for _ in range(MAX_ATTRIBUTES):
        match = _ATTRIBUTE.match(text, position, tag.end - 1)
        if match is None:
            break
        name, value = match.groups(default="")
        found.setdefault(name.lower(), decode_attribute(_unquoted(value)))
        position = match.end()
    return found


def is_self_closing(text: str, tag: Tag) -> bool:
    """Whether a tag ends in `/>`, which has a meaning in XML only."""
    return text.endswith("/>", tag.start, tag.end)


def decode_attribute(value: str) -> str:
    """Decodes character references as in an attribute, where `?a=1&copy=2` keeps its ampersand."""
    return _REFERENCE.sub(_decoded, value) if "&" in value else value


def decode_text(value: str) -> str:
    """Decodes character references as in running text."""
    if "&" not in value:
        return value
    # html.unescape passes the digits to int(), which raises ValueError for thousands of them.
    return html.unescape(_OVERLONG_NUMBER.sub("\ufffd", value))


def _tag_at(text: str, opening: re.Match[str], rules: TagSyntax) -> Tag:
    start = opening.start()
    closing, name = opening.groups()
    if name is None:
        return Tag("!", start, _end_of_declaration(text, start, rules))
    name_end = opening.end()
    if text.startswith(">", name_end) and name_end - start < rules.longest_tag:  # as most tags do
        return Tag(name.lower(), start, name_end + 1, name_end, closing == "/")
    end = _end_of_tag(text, name_end, rules.limit(text, start, name_end))
    if end is None:
        return Tag("!", start, len(text))
    return Tag(name.lower(), start, end, name_end, closing == "/")


def _end_of_tag(text: str, position: int, limit: int) -> int | None:
    if match := _FEW_ATTRIBUTES.match(text, position, limit):
        return match.end()
    while match := _ONE_ATTRIBUTE.match(text, position, limit):
        position = match.end()
    end = _TAG_END.match(text, position, limit)
    return end.end() if end else None


def _end_of_declaration(text: str, start: int, rules: TagSyntax) -> int:
    if text.startswith(("<!-->", "<!--->"), start):
        return text.index(">", start) + 1
    if text.startswith("<!--", start):
        comment = _COMMENT_END.search(text, start + 4)
        return comment.end() if comment else len(text)
    ending = "]]>" if rules.cdata and text.startswith("<![CDATA[", start) else ">"
    end = text.find(ending, start)
    return end + len(ending) if end >= 0 else len(text)


def _unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in {'"', "'"} else value


def _decoded(reference: re.Match[str]) -> str:
    whole, name = reference.group(0, 1)
    if name is None:
        return html.unescape(whole)
    return html5.get(whole[1:], whole)
