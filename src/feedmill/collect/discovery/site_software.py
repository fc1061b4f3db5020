"""Derives the feed URLs of a site from the software that runs it (WordPress, Mastodon, Hugo)."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from feedmill.html.web_page import WebPage
from feedmill.model.hosts import host_of

# Name of the software in <meta name="generator"> -> path of its feed.
_GENERATORS = {
    "typecho": "/feed/",
    "ghost": "/rss/",
    "hugo": "/index.xml",
    "jekyll": "/feed.xml",
    "hexo": "/atom.xml",
    "zola": "/atom.xml",
    "drupal": "/rss.xml",
    "halo": "/rss.xml",
    "wix.com": "/blog-feed.xml",
    "discourse": "/latest.rss",
    "z-blogphp": "/feed.php",
}
# Text that only pages of that software contain -> path of its feed.
_FOOTPRINTS = {"substackcdn.com/": "/feed", "com.medium.reader": "/feed"}

_FEDIVERSE = re.compile(r"""\bid=["']?mastodon\b|<meta [^>]{0,200}\b(?:mastodon|glitch-soc)\b""", re.I)
_FEDIVERSE_PATH = re.compile(r"/(@[\w.-]+|tags/[^/]+)(?:/|$)")
_WORDPRESS_ARCHIVE = re.compile(r".*?/(?:category|tag|author)/[^/]+(?=/|$)")


class SiteFeed(NamedTuple):
    """A feed that sites of this kind have; `title` says which of their feeds."""

    url: str
    title: str


def origin(url: str) -> str:
    """Returns scheme, host and port of a URL, without a slash at the end."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def software_feeds(page: WebPage) -> Iterator[SiteFeed]:
    """Yields the feeds of the software that made the page, the closest to the page first."""
    yield from _fediverse(page)
    yield from _wordpress(page)
    yield from _blogger(page)
    for name, path in _GENERATORS.items():
        if page.generator.startswith(name):
            yield SiteFeed(origin(page.url) + path, page.title)
    for footprint, path in _FOOTPRINTS.items():
        if footprint in page.html:
            yield SiteFeed(origin(page.url) + path, page.title)


def _fediverse(page: WebPage) -> Iterator[SiteFeed]:
    place = _FEDIVERSE_PATH.match(urlsplit(page.url).path)
    if place and _FEDIVERSE.search(page.html):
        yield SiteFeed(f"{origin(page.url)}/{place[1]}.rss", page.title or place[1])


def _wordpress(page: WebPage) -> Iterator[SiteFeed]:
    """The link to the REST API has the path of the blog, if it is not at the root of the host."""
    api = page.linked("https://api.w.org/")
    if not (api or page.generator.startswith("wordpress") or "/wp-content/" in page.html):
        return
    if archive := _WORDPRESS_ARCHIVE.match(urlsplit(page.url).path):
        yield SiteFeed(f"{origin(page.url)}{archive[0]}/feed/", page.title)
    root = api.partition("/wp-json")[0] if api and "/wp-json" in api else origin(page.url)
    yield SiteFeed(f"{root}/feed/", page.title)


def _blogger(page: WebPage) -> Iterator[SiteFeed]:
    labels = host_of(page.url).split(".")
    if "blogspot" in labels or page.generator.startswith("blogger"):
        yield SiteFeed(urljoin(page.url, "/feeds/posts/default"), page.title)
