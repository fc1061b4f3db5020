"""Refreshing, importing and exporting, without scripts."""

from typing import Any

import pytest
from lxml import html

from feedmill.library.subscriptions.opml import MAX_BYTES
from feedmill.store.jobs.batches import release_batches, start_batch
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.sample_sites import feed
from tests.serve.web.visitor import Visitor, text_of
from tests.waiting import until


async def ended(visitor: Visitor, address: str) -> Any:
    """The page of a job, once it has ended."""
    page: Any = None

    async def has_ended() -> bool:
        nonlocal page
        page = await visitor.see(address)
        if page.xpath("//*[@data-job-page]/@data-status") != ["running"]:
            return True
        assert page.xpath("//noscript//meta[@http-equiv='refresh']/@content") == ["3"]
        return False

    await until(has_ended, otherwise="the job did not end")
    return page


def opml(*outlines: str) -> str:
    return f'<opml version="2.0"><body>\n{chr(10).join(outlines)}\n</body></opml>'


def outline(url: str, title: str) -> str:
    return f'<outline type="rss" text="{title}" xmlUrl="{url}"/>'


async def test_refreshing_all_leads_to_its_job_with_reasons(site: Site, alice: Visitor) -> None:
    site.web.serve("/zh.xml", Answer(status=404))

    started = await alice.send("/refresh-all", view="/unread")
    page = await ended(alice, started.headers["location"])

    assert "2 of 2 feeds · 0 new · 1 failed" in text_of(page)
    assert "磨坊笔记 HTTP 404" in text_of(page)


@pytest.mark.parametrize(("view", "feeds"), [("/folder/1", 1), ("/feed/2", 1), ("/starred", 2), ("", 2)])
async def test_a_view_refreshes_its_own_feeds(alice: Visitor, view: str, feeds: int) -> None:
    started = await alice.send("/refresh-all", view=view)

    assert f"of {feeds} feeds" in text_of(await alice.see(started.headers["location"]))


async def test_a_running_job_is_shown_on_every_page_and_can_be_cancelled(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)
    feed_ids = [each.feed_id for each in await subscriptions_of(site.app.db, user.id)]
    job_id, _ = await start_batch(site.app.db, "refresh_all", feed_ids, site.app.tools.clock(), user.id)

    for path in ("/unread", "/feeds", "/appearance"):
        page = await alice.see(path)
        assert page.xpath("//div[@id='strip']/div/@data-job") == [str(job_id)]
    assert "0 of 2 feeds" in text_of(page)
    joined = await alice.send("/refresh-all", view="")
    assert joined.headers["location"] == f"/jobs/{job_id}"
    await alice.send(f"/jobs/{job_id}/cancel")

    assert "Cancelled." in text_of(await alice.see(f"/jobs/{job_id}"))
    assert (await alice.see("/unread")).xpath("//div[@id='strip']/div") == []


async def test_a_job_that_was_not_queued_says_that_it_starts_later(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)
    feed_ids = [each.feed_id for each in await subscriptions_of(site.app.db, user.id)]
    job_id, _ = await start_batch(site.app.db, "refresh_all", feed_ids, site.app.tools.clock(), user.id)
    sentence = "The job queue does not answer at the moment."

    running = await alice.see(f"/jobs/{job_id}")
    await release_batches(site.app.db, [job_id])
    waiting, elsewhere = await alice.see(f"/jobs/{job_id}"), await alice.see("/feeds")

    [hidden], [shown], [in_strip] = (page.xpath("//*[@class='waiting']") for page in (running, waiting, elsewhere))
    assert "hidden" in hidden.attrib
    assert sentence in shown.text
    assert "hidden" not in shown.attrib
    assert sentence in in_strip.text
    assert "hidden" not in in_strip.attrib


async def test_a_job_is_reported_live_in_the_readers_language(site: Site, alice: Visitor, charlie: Visitor) -> None:
    site.web.serve("/zh.xml", Answer(b"<html></html>"))
    started = await alice.send("/refresh-all", view="/unread")
    events = f"{started.headers['location']}/events"
    await ended(alice, started.headers["location"])

    told = (await alice.client.get(events, headers={"accept-language": "zh-CN"})).text
    seen = await alice.client.get(events, headers={"last-event-id": "3"})

    assert '"message":"不是订阅源，而是网页（HTML）"' in told
    assert told.count("event: feed\n") == 2
    assert seen.status_code == 204
    assert (await charlie.client.get(events)).status_code == 404


async def test_htmx_gets_the_progress_bar_only(alice: Visitor) -> None:
    headers = {"HX-Request": "true", "X-CSRF-Token": alice.csrf()}

    strip = await alice.client.post("/refresh-all", data={"view": "/unread"}, headers=headers)

    assert 'class="strip"' in strip.text
    assert "<html" not in strip.text


async def test_a_job_is_visible_to_its_owner_only(alice: Visitor, charlie: Visitor) -> None:
    job = (await alice.send("/refresh-all", view="")).headers["location"]

    for path in (job, f"{job}/strip", f"{job}/lines"):
        assert (await charlie.client.get(path)).status_code == 404
    assert (await charlie.send(f"{job}/cancel")).status_code == 404
    assert (await charlie.send("/refresh-all", view="/folder/1")).status_code == 404
    assert (await charlie.send("/refresh-all", view="/feed/1")).status_code == 404
    assert (await alice.client.get(f"{job}/lines")).status_code == 404


async def test_an_import_is_previewed(site: Site, alice: Visitor) -> None:
    new = feed(site, "/new.xml", "New one")
    had = (await subscriptions_of(site.app.db, (await alice.user(site)).id))[0].url
    sent = opml(
        f'<outline text="技术">{outline(new, "New &amp; &lt;b&gt;")}</outline>',
        outline(had, "Had"),
        '<outline type="rss" text="no address"/>',
    )

    preview = await alice.client.post(
        "/import", data={"csrf": alice.csrf()}, files={"file": ("feeds.opml", sent.encode())}
    )

    page = text_of(html.fromstring(preview.text))
    assert "One feed would be added. It goes into one folder." in page
    assert "New & <b>" in page
    assert "Line 4" in page
    assert len(await subscriptions_of(site.app.db, (await alice.user(site)).id)) == 2


async def test_the_previewed_list_is_imported_and_failed_lines_can_be_downloaded(site: Site, alice: Visitor) -> None:
    new = feed(site, "/new.xml", "New one")
    sent = opml(outline(new, "Neu & alt".replace("&", "&amp;")), '<outline type="rss" text="=no address"/>')
    preview = html.fromstring((await alice.send("/import", opml=sent)).text)
    [carried] = preview.xpath("//textarea[@name='opml']")

    started = await alice.send("/import", opml=carried.text.lstrip("\n"), do="import")
    page = await ended(alice, started.headers["location"])

    assert "1 of 1 feeds · 3 new · 0 failed" in text_of(page)
    lines = await alice.client.get(f"{started.headers['location']}/lines")
    assert lines.headers["content-disposition"] == 'attachment; filename="not-imported.csv"'
    assert lines.text.splitlines()[0] == "line,message"
    assert lines.text.splitlines()[1].startswith("3,")
    titles = [each.title for each in await subscriptions_of(site.app.db, (await alice.user(site)).id)]
    assert "Neu & alt" in titles


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("", "Choose a file"),
        ("no list at all", "This file can’t be imported."),
        ("x" * (MAX_BYTES * 5 // 4 + 1), "too large"),
    ],
)
async def test_a_list_that_cant_be_read_is_explained(alice: Visitor, sent: str, said: str) -> None:
    answer = await alice.send("/import", opml=sent)

    assert answer.status_code in (413, 422)
    assert said in answer.text


async def test_all_feeds_or_one_folder_are_exported(alice: Visitor, charlie: Visitor) -> None:
    everything = await alice.client.get("/export")
    one_folder = await alice.client.get("/export?folder=2")

    assert everything.headers["content-disposition"].endswith('.opml"')
    assert ("Quiet Systems" in everything.text, "磨坊笔记" in everything.text) == (True, True)
    assert ("Quiet Systems" in one_folder.text, "磨坊笔记" in one_folder.text) == (False, True)
    assert "Quiet" not in (await charlie.client.get("/export?id=1&id=2")).text


async def test_starred_entries_are_exported_with_their_texts(alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/marks", do="star", id="1")

    mine = await alice.client.get("/export/starred")
    his = await charlie.client.get("/export/starred")

    assert "/export/starred" in (await alice.see("/import")).xpath("//main//a/@href")
    assert mine.headers["content-type"] == "application/feed+json"
    assert "attachment" in mine.headers["content-disposition"]
    assert [item["_feedmill"]["entry_id"] for item in mine.json()["items"]] == [1]
    assert his.json()["items"] == []


async def test_an_endless_form_is_read_only_up_to_the_limit(nobody: Any) -> None:
    sent = 0

    async def body() -> Any:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
        for _ in range(100):
            sent += 100_000
            yield b"a" * 100_000

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await nobody.post("/login", content=body(), headers=headers)

    assert answer.status_code == 422
    assert sent < 3_000_000


async def test_a_job_without_feeds_ends_at_once(charlie: Visitor) -> None:
    started = await charlie.send("/refresh-all", view="")

    assert "0 of 0 feeds" in text_of(await ended(charlie, started.headers["location"]))
