"""Converts HTML to plain text on one line, cut to a length."""

from collections.abc import Iterator

from feedmill.html.tags import decode_text, tags

_INLINE_TAGS = frozenset(
    {
        "!",
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "nobr",
        "q",
        "rb",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    }
)


_INVISIBLE_TAGS = frozenset({"script", "style", "iframe", "noembed", "noframes"})


def plain_text(html: str, limit: int | None) -> str:
    """Returns the text that a person would read, on one line, cut to `limit` characters with an ellipsis."""
    pieces: list[str] = []
    length = 0
    for piece in _text_pieces(html):
        pieces.append(piece)
        length += sum(map(len, piece.split()))
        if limit is not None and length > limit:
            break
    text = " ".join("".join(pieces).split())
    return text if limit is None else cut_text(text, limit)


def _text_pieces(html: str) -> Iterator[str]:
    position = 0
    hidden = False
    for tag in tags(html):
        if not hidden:
            yield decode_text(html[position : tag.start])
        if tag.name not in _INLINE_TAGS:
            yield " "
        position = tag.end
        hidden = tag.name in _INVISIBLE_TAGS and not tag.closing
    yield decode_text(html[position:])


def cut_text(text: str, limit: int) -> str:
    """Cuts plain text before the first word that does not fit; within it if the text has no spaces there."""
    if len(text) <= limit:
        return text
    room = max(limit - 1, 0)
    space = text.rfind(" ", room * 3 // 4, room + 1)
    return (text[: space if space > 0 else room].rstrip() + "…")[:limit]
