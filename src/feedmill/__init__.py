"""Feedmill collects feeds politely, keeps them for good, and hands them on without repeating or losing an item.

The names in `__all__` are public: the feed parser and the HTML sanitizer, without the server
(docs/reference/python.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedmill.collect.parsing.parse_feed import parse_feed
    from feedmill.errors import NotAFeed
    from feedmill.html.sanitize import sanitize_html
    from feedmill.model.parsed_feed import Chapter, Enclosure, ParsedEntry, ParsedFeed

__version__ = "0.1.0"

__all__ = [
    "Chapter",
    "Enclosure",
    "NotAFeed",
    "ParsedEntry",
    "ParsedFeed",
    "__version__",
    "parse_feed",
    "sanitize_html",
]

# Imported with their first use: every module of ours imports this package, and most need no parser
# (docs/decisions/light-start.md).
_MODULE_OF_NAME = {
    "Chapter": "feedmill.model.parsed_feed",
    "Enclosure": "feedmill.model.parsed_feed",
    "NotAFeed": "feedmill.errors",
    "ParsedEntry": "feedmill.model.parsed_feed",
    "ParsedFeed": "feedmill.model.parsed_feed",
    "parse_feed": "feedmill.collect.parsing.parse_feed",
    "sanitize_html": "feedmill.html.sanitize",
}

if not TYPE_CHECKING:  # a type checker that saw this function would accept every name

    def __getattr__(name: str) -> object:
        """Imports a public name."""
        module = _MODULE_OF_NAME.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(module), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
