"""An article says what filters did with it, and each of it can be taken back there."""

from typing import Any

import pytest

from feedmill.library.entries.list_entries import EntrySummary, entry_summaries
from feedmill.library.filters.effects import effects_of_entry
from feedmill.store.database import Step
from feedmill.store.schema import feeds
from tests.browser import sample_feeds
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of, titles

FORM: dict[str, Any] = {"name": "", "scope": "all", "new_label": ""}
TITLE = "A wheel of larch"


@pytest.fixture
async def arrived(site: Site, alice: Visitor) -> int:
    """The id of an entry that Alice's filters and mutes acted on."""
    sent = FORM | {"name": "Larch", "condition": "in:title larch", "action": ["star", "later"], "new_label": "wood"}
    await alice.send("/filters/new", **sent)
    await alice.send("/muted", do="mute", kind="word", text="zeppelin", period="for_good")
    await alice.send("/muted", do="follow", kind="word", text="wheel", period="for_good")
    await bring(site, alice, SampleEntry(TITLE, hours=0.1), SampleEntry("A zeppelin", "<p>It flies.</p>", hours=0.2))
    page = await alice.see("/all")
    [href] = page.xpath(f"//a[@class='title'][.='{TITLE}']/@href")
    return int(href.partition("?")[0].rpartition("/")[2])


async def bring(site: Site, visitor: Visitor, *entries: SampleEntry) -> None:
    """Refreshes the first feed, which has these new entries."""
    feed = SampleFeed("/systems.xml", "Quiet Systems", entries)
    site.web.serve(
        feed.path, Answer(sample_feeds.as_rss(feed).replace(b"systems.xml-", b"new-"), headers={"ETag": '"new"'})
    )
    await site.app.db.batch([Step(feeds.update().values(last_fetched_at=None))])
    await visitor.send("/feed/1/health", do="refresh")


async def entry_of(site: Site, visitor: Visitor, entry_id: int) -> EntrySummary:
    return (await entry_summaries(site.app.db, (await visitor.user(site)).id, [entry_id]))[0]


def said(page: Any) -> list[str]:
    return [text_of(line) for line in page.xpath("//ul[contains(@class, 'effects')]/li")]


async def test_an_article_says_what_filters_did_with_it(alice: Visitor, arrived: int) -> None:
    page = await alice.see(f"/item/{arrived}")

    assert sorted(said(page)) == [
        "Labelled “wood” by the filter Larch Undo",
        "Raised because you follow wheel Undo",
        "Read later by the filter Larch Undo",
        "Starred by the filter Larch Undo",
    ]
    assert sorted(page.xpath("//ul[contains(@class, 'effects')]//a/@href")) == ["/filters/1"] * 3 + ["/muted"]


async def test_what_a_filter_did_is_taken_back(site: Site, alice: Visitor, arrived: int) -> None:
    label = (await entry_of(site, alice, arrived)).labels[0].id

    await alice.send(f"/item/{arrived}/effects", action="star", target="0", next=f"/item/{arrived}")
    await alice.send(f"/item/{arrived}/effects", action="label", target=str(label), next=f"/item/{arrived}")

    entry = await entry_of(site, alice, arrived)
    assert (entry.starred, entry.labels, entry.later) == (False, (), True)
    assert sorted(said(await alice.see(f"/item/{arrived}"))) == [
        "Raised because you follow wheel Undo",
        "Read later by the filter Larch Undo",
    ]


async def test_with_a_script_the_answer_says_which_mark_is_gone(site: Site, alice: Visitor, arrived: int) -> None:
    answer = await alice.client.post(
        f"/item/{arrived}/effects",
        data={"csrf": alice.csrf(), "action": "star", "target": "0"},
        headers={"HX-Request": "true"},
    )

    assert f'data-unmark="unstar:{arrived}"' in answer.text
    assert "Starred by" not in answer.text


async def test_what_is_muted_is_never_unread_and_says_why(alice: Visitor, arrived: int) -> None:
    unread, everything = await alice.see("/unread"), await alice.see("/all")
    [muted] = everything.xpath("//a[@class='title'][.='A zeppelin']/@href")

    assert "A zeppelin" not in titles(unread)
    assert said(await alice.see(muted)) == ["Hidden because you muted zeppelin Undo"]


async def test_the_page_of_a_filter_lists_what_it_matched(alice: Visitor, arrived: int) -> None:
    page = await alice.see("/filters/1")

    [matched] = page.xpath("//section[@id='did']//li")
    assert matched.xpath("a/text()") == [TITLE]
    assert "starred" in text_of(matched)
    assert "1 item matched" in text_of(await alice.see("/filters"))


async def test_another_user_can_not_take_it_back(site: Site, alice: Visitor, charlie: Visitor, arrived: int) -> None:
    answer = await charlie.send(f"/item/{arrived}/effects", action="star", target="0")

    assert answer.status_code == 404
    assert len(await effects_of_entry(site.app.db, (await alice.user(site)).id, arrived)) == 4
