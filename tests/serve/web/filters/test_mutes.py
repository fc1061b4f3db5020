"""Muting and following: from an article, and on their own page."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from lxml import html
from sqlalchemy import select

from feedmill.library.filters.filter_jobs import jobs_of_filter, running_filter_jobs
from feedmill.library.filters.manage_filters import create_filter, enable_filter, filters_of_user
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.model.filters.entry_filter import EntryFilter, FilterActions, FilterDraft, FilterKind, FilterSubject
from feedmill.model.timestamps import from_iso
from feedmill.model.user import SCOPES, Caller
from feedmill.store.schema import unread, users
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

FROM_ARTICLE: dict[str, Any] = {"do": "mute", "text": "", "period": "week", "next": "/item/1"}
ON_PAGE: dict[str, Any] = {"do": "follow", "kind": "site", "text": "example.org", "period": "for_good"}


async def muted_by(site: Site, visitor: Visitor) -> list[EntryFilter]:
    return await filters_of_user(site.app.db, (await visitor.user(site)).id)


async def unread_of(site: Site, visitor: Visitor) -> set[int]:
    lists = select(users.c.unread_list_id).where(users.c.id == (await visitor.user(site)).id)
    rows = await site.app.db.query(select(unread.c.entry_id).where(unread.c.list_id.in_(lists)))
    return {row["entry_id"] for row in rows}


async def test_an_article_offers_words_of_its_title_its_author_and_its_site(alice: Visitor) -> None:
    page = await alice.see((await alice.see("/all")).xpath("//a[@class='title']/@href")[0])

    offered = page.xpath("//div[@class='subjects']/button/@value")
    words = ["Queues", "forget", "lost", "broker", "teaches", "truth", "row"]
    assert offered == [*(f"word:{word}" for word in words), "author:N. Okafor", "site:example.org"]


async def test_a_word_of_an_article_is_muted_for_a_week(site: Site, alice: Visitor) -> None:
    answer = await alice.send("/item/1/mute", **FROM_ARTICLE | {"subject": "word:cache", "stored": "yes"})

    [made] = await muted_by(site, alice)
    assert answer.headers["location"] == "/item/1"
    assert (made.kind, made.subject) == (FilterKind.MUTE, FilterSubject("word", "cache"))
    ends = from_iso(made.expires_at or "") - datetime.now(UTC)
    assert timedelta(days=6) < ends <= timedelta(days=7)
    [job] = await running_filter_jobs(site.app.db, (await alice.user(site)).id)
    assert (job.kind, job.filter_name) == ("apply", "cache")
    assert "“cache” is muted for a week." in text_of(await alice.see("/all"))


async def test_what_is_written_counts_if_nothing_is_chosen(site: Site, alice: Visitor) -> None:
    await alice.send("/item/1/mute", **FROM_ARTICLE | {"do": "follow", "text": " old  mill ", "period": "for_good"})

    [made] = await muted_by(site, alice)
    assert (made.kind, made.subject, made.expires_at) == (FilterKind.FOLLOW, FilterSubject("word", "old mill"), None)


async def test_with_a_script_the_answer_is_a_message_with_an_undo(site: Site, alice: Visitor) -> None:
    sent = {"csrf": alice.csrf()} | FROM_ARTICLE | {"subject": "site:example.org"}

    answer = await alice.client.post("/item/1/mute", data=sent, headers={"HX-Request": "true"})
    [made] = await muted_by(site, alice)
    await alice.send(f"/filters/{made.id}/delete", revert="yes", next="/muted")

    assert "“example.org” is muted for a week." in answer.text
    assert f'action="/filters/{made.id}/delete"' in answer.text
    assert await muted_by(site, alice) == []


@pytest.mark.parametrize("text", ["", "…", "x" * 101])
async def test_what_has_no_word_is_refused(site: Site, alice: Visitor, text: str) -> None:
    await alice.send("/item/1/mute", **FROM_ARTICLE | {"text": text})
    message = text_of(await alice.see("/all"))
    answer = await alice.send("/muted", **ON_PAGE | {"kind": "word", "text": text})

    assert "Enter a word or phrase of at most 100 characters." in message
    assert answer.status_code == 422
    assert await muted_by(site, alice) == []


async def test_the_page_lists_what_is_muted_and_followed_and_until_when(site: Site, alice: Visitor) -> None:
    await alice.send("/muted", **ON_PAGE)
    await alice.send("/muted", **ON_PAGE | {"do": "mute", "kind": "author", "text": "N. Okafor", "period": "day"})

    page = await alice.see("/muted")

    muted, followed = (text_of(row) for row in page.xpath("//table//tbody/tr"))
    assert "N. Okafor Author All feeds in 1 day 0" in muted
    assert "example.org Site All feeds For good 0" in followed


async def test_its_end_is_changed_and_it_is_removed(site: Site, alice: Visitor) -> None:
    await alice.send("/muted", **ON_PAGE)
    [made] = await muted_by(site, alice)

    await alice.send(f"/muted/{made.id}", period="month")
    [changed] = await muted_by(site, alice)
    await alice.send(f"/filters/{made.id}/delete", revert="yes", next="/muted")

    assert from_iso(changed.expires_at or "") - datetime.now(UTC) > timedelta(days=29)
    assert await muted_by(site, alice) == []


async def test_a_mute_has_no_page_of_a_filter(site: Site, alice: Visitor) -> None:
    await alice.send("/muted", **ON_PAGE)
    [made] = await muted_by(site, alice)

    assert (await alice.client.get(f"/filters/{made.id}")).status_code == 404
    assert (await alice.see("/filters")).xpath("//ol[@data-reorder]/li") == []


async def test_articles_of_others_can_not_be_muted_from(site: Site, charlie: Visitor) -> None:
    answer = await charlie.send("/item/1/mute", **FROM_ARTICLE | {"subject": "word:cache"})

    assert answer.status_code == 404
    assert await muted_by(site, charlie) == []


async def _mute_for(alice: Visitor, period: str, text: str = "cache") -> html.HtmlElement:
    sent = {"csrf": alice.csrf()} | FROM_ARTICLE | {"text": text, "period": period}
    return html.fromstring((await alice.client.post("/item/1/mute", data=sent, headers={"HX-Request": "true"})).text)


async def _undo(alice: Visitor, toast: html.HtmlElement) -> str:
    [form] = toast.xpath(".//form")
    sent = {field.get("name"): field.get("value") for field in form.xpath(".//input")} | {"csrf": alice.csrf()}
    answer = await alice.client.post(form.get("action"), data=sent, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return text_of(html.fromstring(answer.text))


async def test_undo_after_muting_the_same_again_leaves_the_mute_and_what_it_did(site: Site, alice: Visitor) -> None:
    await _mute_for(alice, "for_good")
    [before] = await muted_by(site, alice)

    toast = await _mute_for(alice, "week")
    [changed] = await muted_by(site, alice)
    undone = await _undo(alice, toast)

    assert "“cache” was muted for good. Now it is muted only for a week." in text_of(toast)
    assert changed.expires_at is not None
    assert undone == "“cache” is as it was before."
    assert await muted_by(site, alice) == [before]
    assert await running_filter_jobs(site.app.db, (await alice.user(site)).id) == []


async def test_undo_after_muting_again_what_was_turned_off_turns_it_off(site: Site, alice: Visitor) -> None:
    await _mute_for(alice, "week")
    [made] = await muted_by(site, alice)
    await enable_filter(site.app.db, (await alice.user(site)).id, made.id, datetime.now(UTC), enabled=False)
    [before] = await muted_by(site, alice)

    toast = await _mute_for(alice, "month")
    await _undo(alice, toast)

    assert "“cache” is muted for a month." in text_of(toast)
    assert await muted_by(site, alice) == [before]


async def test_undo_after_muting_the_same_again_takes_back_what_the_change_did(site: Site, alice: Visitor) -> None:
    user_id = (await alice.user(site)).id
    await _mute_for(alice, "week", "queues")
    unread = await unread_of(site, alice)
    sent = {"csrf": alice.csrf()} | FROM_ARTICLE | {"text": "queues", "period": "month", "stored": "yes"}
    answer = await alice.client.post("/item/1/mute", data=sent, headers={"HX-Request": "true"})
    worker = FilterJobWorker(site.app.db)
    await worker.work()
    hidden = unread - await unread_of(site, alice)

    await _undo(alice, html.fromstring(answer.text))
    await worker.work()

    assert len(hidden) > 0
    assert await unread_of(site, alice) == unread
    assert [job.kind for job in await jobs_of_filter(site.app.db, user_id, 1)] == ["undo", "apply"]


async def test_muting_the_same_again_says_so(site: Site, alice: Visitor) -> None:
    await _mute_for(alice, "day")

    longer, for_good = await _mute_for(alice, "week"), await _mute_for(alice, "for_good")

    assert "“cache” was muted already. Now it is muted for a week." in text_of(longer)
    assert "“cache” was muted already. Now it is muted for good." in text_of(for_good)


async def test_a_filter_is_not_restored_like_a_mute(site: Site, alice: Visitor, charlie: Visitor) -> None:
    user = await alice.user(site)
    draft = FilterDraft("Caches", "cache", actions=FilterActions(star=True))
    own = await create_filter(site.app.db, Caller(user, frozenset(SCOPES)), draft, datetime.now(UTC))
    await _mute_for(alice, "week")
    *_, mute = await muted_by(site, alice)

    refused = [
        await alice.send(f"/muted/{own.id}/restore", until="", next="/muted"),
        await charlie.send(f"/muted/{mute.id}/restore", until="", next="/muted"),
    ]

    assert [answer.status_code for answer in refused] == [404, 404]
    assert await muted_by(site, alice) == [own, mute]
