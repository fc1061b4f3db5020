"""Finds the feed URLs of a web page: declared by it, known for its site, linked, or at a common path."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urljoin, urlsplit

from feedmill.absolute_urls import absolute_url
from feedmill.collect.discovery.site_patterns import site_feeds
from feedmill.collect.parsing.decode import decode_page
from feedmill.html.web_page import MAX_PAGE_BYTES, PageLink, WebPage, read_page
from feedmill.model.hosts import host_of

FeedType = Literal["rss", "atom", "json"]
FoundBy = Literal["named by the page", "known site", "linked from the page", "common path"]

MAX_DISCOVERED = 100

_BY_MEDIA_TYPE: dict[str, FeedType | None] = {
    "application/rss+xml": "rss",
    "application/x-rss+xml": "rss",
    "application/rss": "rss",
    "text/rss": "rss",
    "text/rss+xml": "rss",
    "application/rdf+xml": "rss",
    "text/rdf": "rss",
    "application/atom+xml": "atom",
    "application/x.atom+xml": "atom",
    "application/x-atom+xml": "atom",
    "application/atom": "atom",
    "text/atom": "atom",
    "text/atom+xml": "atom",
    "application/feed+json": "json",
    "application/json": "json",
    "application/xml": None,
    "text/xml": None,
}
# These types have other uses too: such a link counts if its URL or title has a word for feeds.
_AMBIGUOUS = frozenset({"application/json", "application/xml", "text/xml", "application/rdf+xml", "text/rdf"})

_FEED_WORD = re.compile(r"(?<![a-z])(?:rss|atom|rdf|feeds?|xml ?feed|订阅|訂閱|フィード)(?![a-z])", re.I)
_FEED_PATH = re.compile(
    r"/(?:feeds?|rss2?|atom|rdf)/?$"
    r"|/(?:feeds?|rss2?|atom|rdf|index)\.(?:xml|json|rss|atom|rdf|php|aspx?)$"
    r"|\.(?:rss|atom|rdf)$"
    r"|/feeds/posts/default/?$",
    re.I,
)
_DATA_PATH = re.compile(r"\.(?:xml|json|php|aspx?|cgi)$", re.I)
_FEED_QUERY = re.compile(r"(?:^|&)(?:feed|format|type|alt|output|mode)=(?:rss|atom|rdf|feed|jsonfeed)", re.I)
_FEED_HOST = re.compile(r"(?:feeds?|rss)\.", re.I)
_NOT_A_FEED = re.compile(r"oembed|/wp-json\b|sitemap|opensearch|osd\.xml|wlwmanifest|xmlrpc|rsd\.xml", re.I)
# Subscribe buttons of other readers contain the feed's URL in their own.
_READER_HOST = re.compile(
    r"(?:^|\.)(?:feedly|inoreader|newsblur|netvibes|theoldreader|bloglines|subtome)\.com$|^add\.my\.yahoo\.com$"
)
_COMMENTS = re.compile(
    r"(?<![a-z])comments?(?![a-z])|kommentar|commentaire|comentario|comentário|commenti|reacties|yorum"
    r"|комментари|评论|評論|コメント|댓글",
    re.I,
)
_COMMON_PATHS = ("feed", "rss.xml", "atom.xml", "feed.xml", "index.xml", "rss", "feed.json")


@dataclass(frozen=True)
class DiscoveredFeed:
    """A URL where a feed is, or at a common path may be; `rank` 0 is the best of a page.

    `type` is None if it is unknown until the feed is fetched.
    """

    url: str
    title: str
    type: FeedType | None
    why: FoundBy
    rank: int = 0

    @property
    def is_guess(self) -> bool:
        """Whether the URL is only a common path."""
        return self.why == "common path"

    @property
    def is_comments(self) -> bool:
        """Whether the feed seems to contain comments rather than articles."""
        return bool(_COMMENTS.search(self.title) or _COMMENTS.search(urlsplit(self.url).path))


def find_page_feeds(page: bytes, *, content_type: str | None, url: str) -> list[DiscoveredFeed]:
    """Returns the feeds of a page, the likeliest first: declared, of the site, linked, comments, common paths."""
    web_page = read_page(decode_page(page[:MAX_PAGE_BYTES], content_type), url)
    certain = [*_declared(web_page), *_site_feeds(web_page), *_linked_feeds(web_page)]
    ordered = sorted(certain, key=lambda found: found.is_comments)
    guesses = [DiscoveredFeed(path, web_page.title, None, "common path") for path in candidate_urls(url)]
    distinct = _distinct([*ordered[:MAX_DISCOVERED], *guesses])
    return [replace(found, rank=rank) for rank, found in enumerate(distinct)]


def candidate_urls(url: str) -> list[str]:
    """Returns URLs at which sites often have a feed: a few next to the page, then those at the root."""
    next_to_page = (urljoin(url, path) for path in _COMMON_PATHS[:3])
    at_root = (urljoin(url, f"/{path}") for path in _COMMON_PATHS)
    return [place for place in dict.fromkeys((*next_to_page, *at_root)) if absolute_url(place)]


def _declared(page: WebPage) -> Iterator[DiscoveredFeed]:
    for link in page.links:
        if link.tag == "link" and _declares_feed(link):
            yield _discovered(link, page, "named by the page")


def _declares_feed(link: PageLink) -> bool:
    if link.rel & {"feed", "service.feed"}:
        return True
    return "alternate" in link.rel and "stylesheet" not in link.rel and _is_feed_type(link)


def _is_feed_type(link: PageLink) -> bool:
    if link.type not in _BY_MEDIA_TYPE or _NOT_A_FEED.search(link.url):
        return False
    return link.type not in _AMBIGUOUS or bool(_FEED_WORD.search(f"{link.url} {link.title}"))


def _site_feeds(page: WebPage) -> Iterator[DiscoveredFeed]:
    for url, title in site_feeds(page):
        if address := absolute_url(url):
            yield DiscoveredFeed(address, title or page.title, _type_by_url(address), "known site")


def _linked_feeds(page: WebPage) -> Iterator[DiscoveredFeed]:
    for link in page.links:
        if link.tag != "link" and (_is_feed_type(link) or _is_feed_url(link)):
            yield _discovered(link, page, "linked from the page")


def _is_feed_url(link: PageLink) -> bool:
    parts = urlsplit(link.url)
    host = host_of(link.url)
    if _READER_HOST.search(host) or _NOT_A_FEED.search(link.url):
        return False
    if _FEED_PATH.search(parts.path) or _FEED_QUERY.search(parts.query) or _FEED_HOST.match(host):
        return True
    return bool(_DATA_PATH.search(parts.path) and _FEED_WORD.search(link.title))


def _discovered(link: PageLink, page: WebPage, why: FoundBy) -> DiscoveredFeed:
    kind = _BY_MEDIA_TYPE.get(link.type) or _type_by_url(link.url)
    return DiscoveredFeed(link.url.partition("#")[0], link.title or page.title, kind, why)


def _type_by_url(url: str) -> FeedType | None:
    parts = urlsplit(url)
    match = re.search(r"(?<![a-z])(rss|atom|json)(?![a-z])", f"{parts.path}?{parts.query}".lower())
    kinds: dict[str, FeedType] = {"rss": "rss", "atom": "atom", "json": "json"}
    return kinds[match[1]] if match else None


def _distinct(feeds: Iterable[DiscoveredFeed]) -> list[DiscoveredFeed]:
    first: dict[str, DiscoveredFeed] = {}
    for found in feeds:
        first.setdefault(_identity(found.url), found)
    return list(first.values())


def _identity(url: str) -> str:
    """The URL without scheme, `www.` and a slash at the end."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"
