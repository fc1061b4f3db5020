"""Tracks the base URL and language (xml:base, xml:lang) that hold at an element."""

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urljoin

from feedmill.absolute_urls import absolute_url
from feedmill.collect.parsing.formats.element_names import XML_BASE, XML_LANG

_MAX_URL = 8192
WEB = ("http://", "https://")


class XmlScope(NamedTuple):
    """The base URL and language of an element; None if unknown. `stated`: `base` comes from an xml:base."""

    base: str | None = None
    language: str | None = None
    stated: bool = False

    def inside(self, attributes: dict[str, str]) -> "XmlScope":
        """The scope of an element with these attributes."""
        if XML_BASE not in attributes and XML_LANG not in attributes:
            return self
        base, language, stated = self
        if XML_BASE in attributes:
            # One that is no web URL (`javascript:`) is ignored, else relative links would stay relative.
            given = absolute_url(attributes[XML_BASE], base)
            base, stated = given or base, stated or given is not None
        if XML_LANG in attributes:
            language = clean_language(attributes[XML_LANG])
        return XmlScope(base, language, stated)

    def resolve(self, url: str) -> str:
        """Makes a URL absolute; one that can't be joined is returned as it is."""
        url = url.strip()
        if "&" in url:  # escaped twice; no URL contains these on purpose
            url = url.replace("&amp;", "&").replace("&#38;", "&")
        if url.startswith(WEB) or not self.base or len(url) > _MAX_URL:
            return url
        try:
            return urljoin(self.base, url)
        except ValueError:
            return url


def scope_of(url: str | None, ancestors: Iterable[dict[str, str]]) -> XmlScope:
    """The scope inside of nested elements, the outermost first, of a document at `url`."""
    scope = XmlScope(base=url)
    for attributes in ancestors:
        scope = scope.inside(attributes)
    return scope


def clean_language(text: str) -> str | None:
    """A language tag with hyphens, or None for an empty one."""
    return text.strip().replace("_", "-") or None
