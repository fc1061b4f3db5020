"""Finds the base of relative URLs in a page."""

import re

from feedmill.absolute_urls import absolute_url
from feedmill.html.tags import attributes, tags

_HAS_BASE = re.compile(r"<base[\t\n\f\r /]", re.I)


def find_base_url(html: str, url: str | None) -> str | None:
    """Returns the base of relative URLs: the first `<base href>`, else the given URL."""
    if not _HAS_BASE.search(html):
        return url
    for tag in tags(html):
        if tag.name == "base" and not tag.closing and (href := attributes(html, tag).get("href")):
            return absolute_url(href, url) or url
    return url
