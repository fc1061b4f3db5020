"""Tags brought into balance: every element that is opened is closed, and nothing else is."""

import re
from collections import Counter

from feedmill.collect.formats.names import is_field

_TAG = re.compile(
    r"<!\[CDATA\[.*?\]\]>"
    r"|<(?P<end>/?)(?P<name>[^\s<>/\"'=!?]++)(?P<attributes>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>",
    re.DOTALL,
)
_NEVER_NESTED = frozenset({"item", "entry"})


def balance(text: str) -> str:
    """Drop end tags that end nothing, and close elements where the one around them ends. CDATA is left alone."""
    balancer = _Balancer()
    return _TAG.sub(balancer.replace, text) + balancer.close_all()


class _Balancer:
    """Remembers which elements are open."""

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
        if not tag["attributes"].endswith("/"):
            self._open.append(name)
            self._counts[name] += 1
        return before + tag[0]

    def close_all(self) -> str:
        return "".join(f"</{name}>" for name in reversed(self._open))

    def _end(self, name: str) -> str:
        if self._counts[name]:
            return self._close(name)
        # A misspelt end tag ends the element that is open, unless that is one whose end is worth waiting for.
        return "" if not self._open or is_field(self._open[-1]) else self._close(self._open[-1])

    def _close(self, name: str) -> str:
        written = []
        while True:
            inner = self._open.pop()
            self._counts[inner] -= 1
            written.append(f"</{inner}>")
            if inner == name:
                return "".join(written)
