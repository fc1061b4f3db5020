"""Where an element stands: what its relative addresses refer to, and which language it is in."""

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urljoin

from feedmill.collect.formats.names import XML_BASE, XML_LANG

_MAX_URL = 8192
WEB = ("http://", "https://")


class Scope(NamedTuple):
    """`base` is xml:base, or what stands in for it: `stated` tells which. None means not known."""

    base: str | None = None
    language: str | None = None
    stated: bool = False

    def inside(self, attributes: dict[str, str]) -> "Scope":
        """The scope of an element with these attributes."""
        if XML_BASE not in attributes and XML_LANG not in attributes:
            return self
        base, language, stated = self
        if XML_BASE in attributes:
            base, stated = self.resolve(attributes[XML_BASE]), True
        if XML_LANG in attributes:
            language = clean_language(attributes[XML_LANG])
        return Scope(base, language, stated)

    def resolve(self, url: str) -> str:
        """Make an address absolute; what can't be joined stays as it is."""
        url = url.strip()
        if "&" in url:  # escaped once too often; no address means these letters
            url = url.replace("&amp;", "&").replace("&#38;", "&")
        if url.startswith(WEB) or not self.base or len(url) > _MAX_URL:
            return url
        try:
            return urljoin(self.base, url)
        except ValueError:
            return url


def scope_of(url: str | None, ancestors: Iterable[dict[str, str]]) -> Scope:
    """The scope inside nested elements, outermost first, of a document at `url`."""
    scope = Scope(base=url)
    for attributes in ancestors:
        scope = scope.inside(attributes)
    return scope


def clean_language(text: str) -> str | None:
    """A language tag with hyphens, or None for an empty one."""
    return text.strip().replace("_", "-") or None
