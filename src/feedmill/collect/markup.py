"""Elements inside a text, written back as HTML."""

from html import escape

from feedmill.collect.formats.names import XHTML, XML

MAX_DEPTH = 256
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
})  # fmt: skip
_ATTRIBUTE_PREFIXES = {XML[:-1]: "xml:", "http://www.w3.org/1999/xlink": "xlink:"}


class Markup:
    """Collects the events inside one element and gives the HTML that they came from.

    Deeper than MAX_DEPTH only the text is kept: a page of a hundred thousand levels is of no use to any reader.
    """

    __slots__ = ("_depth", "_namespaces", "_pieces", "_tops", "_wrapper")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._namespaces: list[str] = [XHTML]
        self._depth = 0
        self._tops = 0  # elements and texts at the top
        self._wrapper: list[int] = []  # where the div that starts and ends it all is among the pieces

    def text(self, text: str) -> None:
        if not text:
            return
        if self._depth == 0 and not text.isspace():
            self._tops += 1
        self._pieces.append(escape(text, quote=False))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition("}")
        if self._depth == 0:
            self._tops += 1
            if local == "div":
                self._wrapper = [len(self._pieces)]
        self._depth += 1
        if self._depth <= MAX_DEPTH:
            self._pieces.append(self._tag(namespace, local, attributes))
            self._namespaces.append(namespace)

    def end(self, name: str) -> None:
        local = name.rpartition("}")[2]
        if self._depth <= MAX_DEPTH:
            self._namespaces.pop()
            if local not in _VOID:
                self._pieces.append(f"</{local}>")
        self._depth -= 1
        if self._depth == 0 and local == "div":
            self._wrapper.append(len(self._pieces) - 1)

    def html(self) -> str:
        return "".join(self._pieces).strip()

    def html_inside_div(self) -> str:
        """The HTML without the one div around it all, which Atom asks for and does not count as content."""
        if self._tops != 1 or len(self._wrapper) != 2:
            return self.html()
        first, last = self._wrapper
        return "".join(self._pieces[first + 1 : last]).strip()

    def _tag(self, namespace: str, local: str, attributes: dict[str, str]) -> str:
        written = "".join(
            f' {_attribute_name(key)}="{escape(value)}"'
            for key, value in attributes.items()
            if key != "xmlns"
        )
        if namespace not in ("", XHTML, self._namespaces[-1]) and not _is_feed_namespace(namespace):
            written += f' xmlns="{escape(namespace)}"'
        return f"<{local}{written} />" if local in _VOID else f"<{local}{written}>"


def _attribute_name(key: str) -> str:
    namespace, _, local = key.rpartition("}")
    return _ATTRIBUTE_PREFIXES.get(namespace, "") + local


def _is_feed_namespace(namespace: str) -> bool:
    return namespace.startswith(
        ("http://www.w3.org/2005/Atom", "http://purl.org/", "http://backend.userland.com/")
    )
