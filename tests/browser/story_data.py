"""Feeds that have the same articles, for Alice."""

from tests.browser import sample_feeds
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.serve.rest.site import Site

BRIDGE = "The old bridge over the Tua carries trains again"
LIBRARY = "A library lends seeds, and gets them back as vegetables"
CHINESE = "百年铁路桥重新通车，沿线村庄恢复客运"


def _text(title: str) -> str:
    """Some words that only this article has."""
    words = title.replace(",", "").split() if title.isascii() else list(title)
    return "<p>" + " ".join(f"{word} {place}{word}" for place in range(9) for word in words) + "</p>"


def _entry(title: str, path: str, hours: float) -> SampleEntry:
    return SampleEntry(title, _text(title), hours, link=f"https://{path}.example.org/{hours}")


FEEDS = [
    SampleFeed(
        "/gazette.xml",
        "Valley Gazette",
        [_entry(BRIDGE, "gazette", 3), _entry(LIBRARY, "gazette", 5), _entry("Rain expected on Sunday", "gazette", 6)],
        "News",
    ),
    SampleFeed(
        "/rails.xml",
        "Rails & Sleepers",
        [_entry(BRIDGE, "rails", 2), _entry("Narrow gauge, wide smiles", "rails", 8)],
        "Hobbies",
    ),
    SampleFeed("/wire.xml", "Northern Wire", [_entry(BRIDGE, "wire", 1), _entry(LIBRARY, "wire", 4)], "News"),
    SampleFeed("/zh-news.xml", "山谷日报", [_entry(CHINESE, "zh-news", 3.5)], "News", "zh-CN"),
    SampleFeed("/zh-rails.xml", "铁道之友", [_entry(CHINESE, "zh-rails", 1.2)], "Hobbies", "zh-CN"),
]


async def prepare(site: Site) -> None:
    """Alice subscribes to the feeds in their order, so the first has each article first."""
    await sample_feeds.prepare(site)
    alice = await sample_feeds.find_user(site)
    for feed in FEEDS:
        await sample_feeds.subscribe_to(site, alice, feed)
