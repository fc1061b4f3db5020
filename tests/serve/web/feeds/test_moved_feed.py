"""A feed that has moved, for its subscriber: its items stay, and new ones come from the new feed."""

from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of, titles

MERGE = "/admin/feeds/1/merge"


async def test_a_subscriber_keeps_the_old_items_and_is_told_where_the_feed_went(site: Site, alice: Visitor) -> None:
    await alice.send("/marks", do="star", id="1")
    before = titles(await alice.see("/feed/1", params={"show": "all"}))
    await alice.send(MERGE, into="2")

    health = text_of(await alice.see("/feed/1/health"))
    assert "Moved It has moved, and you are subscribed to the feed at its new address." in health
    assert f"It has moved to {site.web.url('/zh.xml')}" in health
    assert titles(await alice.see("/feed/1", params={"show": "all"})) == before
    assert "Moved" in text_of(await alice.see("/feeds"))
    exported = (await alice.client.get("/export")).text
    assert (site.web.url("/systems.xml") in exported, site.web.url("/zh.xml") in exported) == (False, True)


async def test_a_moved_feed_leaves_the_sidebar_when_all_of_it_is_read(alice: Visitor) -> None:
    await alice.send(MERGE, into="2")
    link = "//nav//a[@href='/feed/1']"
    with_unread = (await alice.see("/feeds")).xpath(link)
    await alice.send("/mark-all-read", view="/feed/1", age="")

    assert (len(with_unread), (await alice.see("/feeds")).xpath(link)) == (1, [])
