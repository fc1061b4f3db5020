"""Finds the WebSub hub of a feed, and the feed's name there: its topic. Pure.

As W3C's WebSub says, `Link` headers count before the links of the document. YouTube's feeds name their hub only
sometimes, and under another topic than their own address.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from feedmill.absolute_urls import absolute_url
from feedmill.collect.feed_moves import is_same_site
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import Response
from feedmill.model.parsed_feed import ParsedFeed

# The length of the URL of a feed.
LONGEST_URL = 2048
MAX_HEADER = 8192
GOOGLE_HUB = "https://pubsubhubbub.appspot.com/"
YOUTUBE_TOPIC = "https://www.youtube.com/xml/feeds/videos.xml?channel_id="

_YOUTUBE_FEED = re.compile(r"https?://(?:www\.)?youtube\.com/feeds/videos\.xml\?channel_id=([\w-]{1,64})", re.ASCII)
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)


class HubLinks(NamedTuple):
    """A hub, and the topic under which it knows the feed."""

    hub_url: str
    topic_url: str


def find_hub(feed: Feed, response: Response, parsed: ParsedFeed) -> HubLinks | None:
    """The hub of the feed; None if it has none, or names the address of another site as its own.

    A private feed has none: nobody but its owner may fetch its topic.
    """
    if feed.is_private:
        return None
    if channel := _YOUTUBE_FEED.fullmatch(feed.url):
        return HubLinks(GOOGLE_HUB, YOUTUBE_TOPIC + channel[1])
    headers = links_by_relation(response.headers.get("link", ""), response.final_url)
    hub = headers.get("hub") or absolute_url(parsed.hub_url or "", response.final_url)
    own = (headers.get("self") if "hub" in headers else None) or absolute_url(
        parsed.self_url or response.final_url, response.final_url
    )
    if hub is None or own is None or max(len(hub), len(own)) > LONGEST_URL:
        return None
    topic = own.partition("#")[0]
    is_own = is_same_site(topic, feed.url) or is_same_site(topic, response.final_url)
    return HubLinks(_over_tls(hub), topic) if is_own else None


def is_light_push(topic_url: str) -> bool:
    """Whether pushes of this topic only tell that there is news: YouTube's lack most of what its feeds have."""
    return topic_url.startswith(YOUTUBE_TOPIC)


def links_by_relation(header: str, base_url: str) -> dict[str, str]:
    """The first URL of each relation in a `Link` header (RFC 8288)."""
    found: dict[str, str] = {}
    for relation, address in _links(header[:MAX_HEADER]):
        url = absolute_url(address, base_url)
        if url is not None:
            found.setdefault(relation, url)
    return found


def _links(header: str) -> Iterator[tuple[str, str]]:
    for address, parameters in _LINK.findall(header):
        relation = _REL.search(parameters)
        names = (relation[1] or relation[2] or "") if relation else ""
        yield from ((name, address) for name in names.lower().split())


def _over_tls(hub_url: str) -> str:
    """The hub that most feeds name, over TLS, however they name it."""
    return GOOGLE_HUB if hub_url.rstrip("/") == GOOGLE_HUB.replace("https", "http").rstrip("/") else hub_url
