"""Closes every open XML tag and drops end tags that close nothing."""

import re
from collections import Counter

_TAG = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<(?P<end>/?)(?P<name>[^\s<>/\"'=!?]++)(?P<attributes>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>",
    re.DOTALL,
)
# Only the beginning of a name matches. Else a name without "=" would be tried again from each of its letters.
_ATTRIBUTE = re.compile(r"(?<![^\s=\"'/])([^\s=\"'/]++)\s*+=\s*+(\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_WELL_FORMED_ATTRIBUTES = re.compile(r"(?:\s+[A-Za-z_][\w.:-]*+=(?:\"[^\"<]*+\"|'[^'<]*+'))*+\s*+")
_HTML_ELEMENTS = frozenset(
    {
        "a",
        "abbr",
        "article",
        "aside",
        "b",
        "big",
        "blockquote",
        "body",
        "br",
        "button",
        "center",
        "cite",
        "code",
        "dd",
        "del",
        "div",
        "dl",
        "dt",
        "em",
        "embed",
        "figcaption",
        "figure",
        "font",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "hr",
        "html",
        "i",
        "iframe",
        "img",
        "input",
        "ins",
        "label",
        "li",
        "main",
        "nav",
        "noscript",
        "object",
        "ol",
        "option",
        "p",
        "param",
        "picture",
        "pre",
        "q",
        "s",
        "script",
        "section",
        "small",
        "span",
        "strike",
        "strong",
        "style",
        "sub",
        "sup",
        "svg",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "time",
        "tr",
        "tt",
        "u",
        "ul",
        "video",
    }
)
_NEVER_NESTED = frozenset({"item", "entry"})


def balance(text: str) -> str:
    """Drops end tags of elements that are not open, and closes elements when their parent ends. Skips CDATA."""
    balancer = _Balancer()
    return _TAG.sub(balancer.replace, text) + balancer.close_all()


class _Balancer:
    """Keeps the stack of open elements."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()

    def replace(self, tag: re.Match[str]) -> str:
        name = tag["name"]
        if name is None:
            return tag[0]
        if tag["end"]:
            return self._end(name)
        before = self._close(name) if name in _NEVER_NESTED and self._counts[name] else ""
        attributes, closed = tag["attributes"].removesuffix("/"), tag["attributes"].endswith("/")
        if not closed:
            self._open.append(name)
            self._counts[name] += 1
        return f"{before}<{name}{_repair_attributes(attributes)}{'/' if closed else ''}>"

    def close_all(self) -> str:
        return "".join(f"</{name}>" for name in reversed(self._open))

    def _end(self, name: str) -> str:
        if self._counts[name]:
            return self._close(name)
        # An end tag of HTML comes from a text; any other is taken for a misspelt end of the innermost element.
        return "" if not self._open or name.lower() in _HTML_ELEMENTS else self._close(self._open[-1])

    def _close(self, name: str) -> str:
        end_tags = []
        while True:
            inner = self._open.pop()
            self._counts[inner] -= 1
            end_tags.append(f"</{inner}>")
            if inner == name:
                return "".join(end_tags)


def _repair_attributes(text: str) -> str:
    """Quotes unquoted values; of attributes with the same name the first is kept."""
    if _WELL_FORMED_ATTRIBUTES.fullmatch(text):
        return text
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(text):
        found.setdefault(name, value if value[0] in "\"'" else f'"{value}"')
    return "".join(f" {name}={value}" for name, value in found.items())
