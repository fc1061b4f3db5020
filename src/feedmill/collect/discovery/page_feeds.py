"""Finds the feed URLs of a web page: named, known for the site, linked, or worth a try."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urljoin, urlsplit

from feedmill.collect.discovery.site_patterns import site_feeds
from feedmill.collect.parsing.decode import decode_page
from feedmill.html.links import absolute_url
from feedmill.html.page import MAX_PAGE_BYTES, PageLink, WebPage, read_page
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
# These types serve other purposes too: such a link counts when its address or title speaks of a feed.
_AMBIGUOUS = frozenset({"application/json", "application/xml", "text/xml", "application/rdf+xml", "text/rdf"})

_SPEAKS_OF_FEEDS = re.compile(r"(?<![a-z])(?:rss|atom|rdf|feeds?|xml ?feed|订阅|訂閱|フィード)(?![a-z])", re.I)
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
_OTHER_PURPOSE = re.compile(r"oembed|/wp-json\b|sitemap|opensearch|osd\.xml|wlwmanifest|xmlrpc|rsd\.xml", re.I)
# Buttons of other readers carry the feed's address inside their own.
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
    """An address where a feed is, or for a common path may be; `rank` 0 is the best of a page.

    `type` is None when nothing tells it before the feed is fetched.
    """

    url: str
    title: str
    type: FeedType | None
    why: FoundBy
    rank: int = 0

    @property
    def is_guess(self) -> bool:
        """Nothing but custom says that there is a feed."""
        return self.why == "common path"

    @property
    def is_comments(self) -> bool:
        """The feed seems to hold readers' comments rather than articles."""
        return bool(_COMMENTS.search(self.title) or _COMMENTS.search(urlsplit(self.url).path))


def find_page_feeds(page: bytes, *, content_type: str | None, url: str) -> list[DiscoveredFeed]:
    """Returns the feeds of a page, the likeliest first: named, of the site, linked, comments, guesses."""
    read = read_page(decode_page(page[:MAX_PAGE_BYTES], content_type), url)
    certain = [*_named(read), *_of_the_site(read), *_linked(read)]
    ordered = sorted(certain, key=lambda found: found.is_comments)
    guesses = [DiscoveredFeed(path, read.title, None, "common path") for path in candidate_urls(url)]
    distinct = _distinct([*ordered[:MAX_DISCOVERED], *guesses])
    return [replace(found, rank=rank) for rank, found in enumerate(distinct)]


def candidate_urls(url: str) -> list[str]:
    """Returns addresses where sites often keep a feed: a few beside the page, then those at the root."""
    beside = (urljoin(url, path) for path in _COMMON_PATHS[:3])
    at_the_root = (urljoin(url, f"/{path}") for path in _COMMON_PATHS)
    return [place for place in dict.fromkeys((*beside, *at_the_root)) if absolute_url(place)]


def _named(page: WebPage) -> Iterator[DiscoveredFeed]:
    for link in page.links:
        if link.tag == "link" and _names_a_feed(link):
            yield _found(link, page, "named by the page")


def _names_a_feed(link: PageLink) -> bool:
    if link.rel & {"feed", "service.feed"}:
        return True
    return "alternate" in link.rel and "stylesheet" not in link.rel and _is_feed_type(link)


def _is_feed_type(link: PageLink) -> bool:
    if link.type not in _BY_MEDIA_TYPE or _OTHER_PURPOSE.search(link.url):
        return False
    return link.type not in _AMBIGUOUS or bool(_SPEAKS_OF_FEEDS.search(f"{link.url} {link.title}"))


def _of_the_site(page: WebPage) -> Iterator[DiscoveredFeed]:
    for url, title in site_feeds(page):
        if address := absolute_url(url):
            yield DiscoveredFeed(address, title or page.title, _type_by_address(address), "known site")


def _linked(page: WebPage) -> Iterator[DiscoveredFeed]:
    for link in page.links:
        if link.tag != "link" and (_is_feed_type(link) or _leads_to_a_feed(link)):
            yield _found(link, page, "linked from the page")


def _leads_to_a_feed(link: PageLink) -> bool:
    parts = urlsplit(link.url)
    host = host_of(link.url)
    if _READER_HOST.search(host) or _OTHER_PURPOSE.search(link.url):
        return False
    if _FEED_PATH.search(parts.path) or _FEED_QUERY.search(parts.query) or _FEED_HOST.match(host):
        return True
    return bool(_DATA_PATH.search(parts.path) and _SPEAKS_OF_FEEDS.search(link.title))


def _found(link: PageLink, page: WebPage, why: FoundBy) -> DiscoveredFeed:
    kind = _BY_MEDIA_TYPE.get(link.type) or _type_by_address(link.url)
    return DiscoveredFeed(link.url.partition("#")[0], link.title or page.title, kind, why)


def _type_by_address(url: str) -> FeedType | None:
    parts = urlsplit(url)
    told = re.search(r"(?<![a-z])(rss|atom|json)(?![a-z])", f"{parts.path}?{parts.query}".lower())
    kinds: dict[str, FeedType] = {"rss": "rss", "atom": "atom", "json": "json"}
    return kinds[told[1]] if told else None


def _distinct(feeds: Iterable[DiscoveredFeed]) -> list[DiscoveredFeed]:
    first: dict[str, DiscoveredFeed] = {}
    for found in feeds:
        first.setdefault(_identity(found.url), found)
    return list(first.values())


def _identity(url: str) -> str:
    """What stays the same between http and https, with and without `www.` or a slash at the end."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"
