"""Merging two feeds on an admin's page, after a preview and without a loss."""

from typing import Any

import pytest

from feedmill.store.feeds.add_feeds import add_feed
from tests.flows.refresh_environment import NOW
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of, titles

PAGE = "/admin/feeds/1/merge"


def comes_to(page: Any) -> str:
    return text_of(page.xpath("//section[h2[@id='comes_to']]")[0])


async def test_a_merge_is_previewed_done_and_reported(site: Site, alice: Visitor) -> None:
    await alice.send("/marks", do="star", id="1")
    starred = titles(await alice.see("/starred"))
    page = await alice.see(PAGE, params={"into": site.web.url("/zh.xml")})
    told = "One reader is moved. One is subscribed to both already. 5 items stay with their feed"
    assert told in comes_to(page)
    [into] = page.xpath("//form[@method='post']/input[@name='into']/@value")

    done = await alice.send(PAGE, into=into)

    assert done.headers["location"] == "/admin/feeds/2"
    page = text_of(await alice.see("/admin/feeds/2"))
    assert "The feeds were merged: one reader was moved." in page
    assert "Items3" in page
    gone = await alice.see("/admin/feeds/1")
    assert "This feed was merged into" in text_of(gone)
    assert gone.xpath("//main//form") == []
    assert "feed.merge" in text_of(await alice.see("/admin/audit"))
    assert titles(await alice.see("/starred")) == starred


async def test_entries_are_listed_and_move_when_the_admin_ticks_the_box(alice: Visitor) -> None:
    page = await alice.see(PAGE, params={"into": "2"})
    fields = {one.get("name"): one.get("value") for one in page.xpath("//form[@method='post']//input[@type='hidden']")}
    assert len(page.xpath("//main//details//li")) == 5
    assert page.xpath("//input[@name='move_entries']/@checked") == []

    await alice.send(PAGE, into=fields["into"], up_to=fields["up_to"], move_entries="yes")

    page = text_of(await alice.see("/admin/feeds/2"))
    assert "The feeds were merged: one reader and 5 items were moved." in page
    assert "Items8" in page
    assert "feed.merge_entries" in text_of(await alice.see("/admin/audit"))


@pytest.mark.parametrize("sent", [{"move_entries": "yes"}, {"move_entries": "1", "up_to": "5"}])
async def test_an_invalid_choice_changes_nothing(alice: Visitor, sent: dict[str, str]) -> None:
    refused = await alice.send(PAGE, into="2", **sent)

    assert refused.status_code == 422
    assert "This feed was merged into" not in text_of(await alice.see("/admin/feeds/1"))


@pytest.mark.parametrize(
    ("into", "said"),
    [
        ("1", "A feed can’t be merged into itself."),
        ("99", "There is no such feed. Enter"),
        ("https://nowhere.example/feed", "There is no such feed. Enter"),
        ("nothing like it", "There is no such feed. Enter"),
        ("9" * 30, "There is no such feed. Enter"),
    ],
)
async def test_feeds_that_cannot_be_merged_are_reported_next_to_the_field(alice: Visitor, into: str, said: str) -> None:
    looked = await alice.client.get(PAGE, params={"into": into})
    sent = await alice.send(PAGE, into=into)

    assert [(answer.status_code, said in answer.text) for answer in (looked, sent)] == [(422, True), (422, True)]


async def test_merging_into_a_stopped_feed_shows_a_warning(alice: Visitor) -> None:
    await alice.send("/admin/feeds/2/pause")

    assert "its new readers would get nothing new" in comes_to(await alice.see(PAGE, params={"into": "2"}))


async def test_a_url_that_another_feed_has_offers_the_merge(site: Site, alice: Visitor) -> None:
    other = await add_feed(site.app.db, "https://example.org/b?x=1&y=2", NOW)

    taken = await alice.send("/admin/feeds/1", url=other.url)

    offered = f'href="{PAGE}?into=https%3A//example.org/b%3Fx%3D1%26y%3D2"'
    assert (taken.status_code, offered in taken.text) == (422, True)


async def test_only_an_admin_merges(charlie: Visitor) -> None:
    assert (await charlie.client.get(PAGE)).status_code == 403
    assert (await charlie.send(PAGE, into="2")).status_code == 403
