"""Suggested feeds for users without feeds, fetched only when ticked. The tests never request the real ones."""

from typing import Any

import pytest

from feedmill.library.feeds.starter_feeds import TOPICS, StarterFeed, StarterTopic
from feedmill.serve.web.subscriptions import starter_feeds
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.browser.sample_feeds import PASSWORD
from tests.serve.rest.site import Site
from tests.serve.web.sample_sites import feed
from tests.serve.web.visitor import Visitor, text_of


@pytest.fixture
def topics(site: Site, monkeypatch: pytest.MonkeyPatch) -> list[StarterTopic]:
    """Two topics of the scripted web instead of ours."""
    names = {"news": ("one", "two"), "science": ("three",)}
    made = [
        StarterTopic(key, [StarterFeed(path, feed(site, f"/{path}.xml", path.title()), "en") for path in paths])
        for key, paths in names.items()
    ]
    monkeypatch.setattr(starter_feeds, "TOPICS", made)
    return made


def boxes(page: Any) -> list[tuple[str, bool]]:
    found = page.xpath("//form[@action='/starters']//input[@name='feed']")
    return [(box.get("value"), box.get("checked") is not None) for box in found]


async def test_the_page_after_the_first_account_offers_three_ways_to_start(site: Site) -> None:
    client = await site.browser()
    made = await client.post("/setup", data={"name": "alice", "password": PASSWORD, "again": PASSWORD})
    page = await Visitor("alice", client).see(made.headers["location"])

    assert page.xpath("//input[@name='url']")
    assert page.xpath("//form[@action='/import']//input[@type='file']")
    assert boxes(page) == [(url, False) for topic in TOPICS for url in topic.urls]
    assert len(boxes(page)) == 12


@pytest.mark.parametrize("path", ["/unread", "/feeds"])
async def test_a_user_without_feeds_is_offered_the_suggestions(charlie: Visitor, path: str) -> None:
    page = await charlie.see(path)

    assert page.xpath("//main//a[@href='/starters']")
    assert boxes(await charlie.see("/starters")) != []


async def test_a_user_with_feeds_is_not_offered_them(alice: Visitor) -> None:
    assert boxes(await alice.see("/subscribe")) == []


async def test_only_ticked_feeds_are_added_and_fetched_in_a_folder_of_their_topic(
    site: Site, charlie: Visitor, topics: list[StarterTopic]
) -> None:
    one, three = topics[0].urls[0], topics[1].urls[0]

    added = await charlie.send("/starters", feed=[one, three])
    shown = await charlie.see(added.headers["location"])

    assert "2 feeds were added" in text_of(shown)
    user = await charlie.user(site)
    mine = await subscriptions_of(site.app.db, user.id)
    names = {folder.id: folder.name for folder in await folders_of(site.app.db, user.id)}
    assert {(each.url, names[each.folder_ids[0]]) for each in mine} == {(one, "World news"), (three, "Science")}
    assert site.web.seen("/two.xml") == []


async def test_no_selection_shows_a_message_and_adds_nothing(
    site: Site, charlie: Visitor, topics: list[StarterTopic]
) -> None:
    answer = await charlie.send("/starters")

    assert answer.status_code == 422
    assert "Select at least one feed" in answer.text
    assert await subscriptions_of(site.app.db, (await charlie.user(site)).id) == []


async def test_the_suggestions_are_available_in_chinese(charlie: Visitor) -> None:
    page = await charlie.see("/starters", headers={"Accept-Language": "zh-CN"})

    assert [legend.text for legend in page.xpath("//legend")] == ["国际新闻", "科学", "科技", "中文"]


async def test_visitors_are_not_offered_suggestions(site: Site, alice: Visitor) -> None:
    answer = await (await site.browser()).get("/starters")

    assert answer.headers["location"].startswith("/login")
