"""The health page of one feed and of all feeds, without scripts."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from feedmill.model.timestamps import to_iso
from feedmill.serve.web.feeds import health as pages
from feedmill.store.database import Step
from feedmill.store.schema import feed_urls, feeds, fetch_log
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, pages_of, text_of

HEALTH = "/feed/1/health"
SYSTEMS = "/systems.xml"


async def change_feed(site: Site, feed_id: int = 1, **values: Any) -> None:
    await site.app.db.batch([Step(feeds.update().where(feeds.c.id == feed_id).values(**values))])


def facts(page: Any) -> dict[str, str]:
    names, values = page.xpath("//dl[@class='facts']/dt"), page.xpath("//dl[@class='facts']/dd")
    return {name.text_content(): text_of(value) for name, value in zip(names, values, strict=True)}


# --- one feed ---------------------------------------------------------------------------------------------


async def test_a_healthy_feed_shows_its_next_fetch(alice: Visitor) -> None:
    page = await alice.see(HEALTH)

    assert page.xpath("//h1/text()") == ["Quiet Systems"]
    assert "Healthy The last fetch worked." in text_of(page.xpath("//h2[@id='state']")[0])
    assert facts(page)["Next fetch"].startswith("in 2 hrs every 2 hrs, because it publishes about every")
    assert facts(page)["Traffic, 30 days"].endswith("in one fetch")
    assert "Every fetch of the last 30 days worked." in text_of(page)


async def test_every_plot_has_a_title_and_its_figures_in_a_table(alice: Visitor) -> None:
    page = await alice.see(HEALTH)

    plots = page.xpath("//main//svg[contains(@class, 'plot')]")
    assert all(plot.get("role") == "img" and plot.xpath("./title/text()") for plot in plots)
    rows = [len(table.xpath(".//tbody/tr")) for table in page.xpath("//details[@class='figures']//table")]
    # One fetch, days with entries, seven weekdays, one raw body.
    assert (rows[0], rows[2], rows[3]) == (1, 7, 1)
    assert sum(int(cell) for cell in page.xpath("(//details[@class='figures'])[2]//td[@class='number']/text()")) == 5


async def test_a_broken_feed_is_explained_in_plain_words(site: Site, alice: Visitor) -> None:
    site.web.serve(SYSTEMS, Answer(b"<html><b>moved</b></html>"))
    await change_feed(site, last_fetched_at=None)

    answer = await alice.send(HEALTH, do="refresh")
    page = await alice.see(HEALTH)

    assert answer.headers["location"] == HEALTH
    assert "The fetch failed; the reason is below." in text_of(page)
    assert "Failing The last fetch failed." in text_of(page)
    [problem] = page.xpath("//div[@class='problem']")
    assert text_of(problem).startswith("Not a feedThere is something else at this address now, often a web page.")
    assert "not a feed: it is a web page (HTML)" in text_of(problem.xpath(".//details")[0])
    assert page.xpath("//*[contains(@class, 'plot')]//circle[@class='failed']")


async def test_each_refusal_of_a_server_is_named_by_its_status(site: Site, alice: Visitor) -> None:
    words = {}
    for status in (401, 403, 404, 451, 418):
        site.web.serve(SYSTEMS, Answer(status=status))
        await change_feed(site, last_fetched_at=None)
        await alice.send(HEALTH, do="refresh")
        words[status] = text_of((await alice.see(HEALTH)).xpath("//div[@class='problem']//strong")[0])

    assert words == {
        401: "The server asks for a login (401)",
        403: "The server does not let us in (403)",
        404: "The feed is not at this address (404)",
        451: "Not available for legal reasons (451)",
        418: "The server rejects the request (4xx)",
    }


async def test_the_page_of_a_failing_feed_says_what_happened_since_when_and_what_comes_next(
    site: Site, alice: Visitor
) -> None:
    site.web.serve(SYSTEMS, Answer(status=404))
    await change_feed(site, last_fetched_at=None, last_success_at="2026-02-01T08:00:00.000Z")

    back = await alice.send(HEALTH, do="refresh", next="/feed/1")
    page = await alice.see("/feed/1")

    [problem] = page.xpath("//div[@class='problem']")
    assert back.headers["location"] == "/feed/1"
    assert text_of(problem.xpath(".//strong")[0]) == "The feed is not at this address (404)"
    assert "Most often the feed has moved, or the site no longer offers it." in text_of(problem)
    assert "It last worked on 1 February 2026" in text_of(problem)
    assert re.search(r"One fetch has failed since. The next automatic try is in \d\d mins.", text_of(problem))
    assert problem.xpath(".//a/@href") == ["/feed/1/health"]
    assert problem.xpath(".//form/@action") == ["/feed/1/health", "/feed/1/health/test#tested"]


async def test_a_feed_that_never_worked_says_so_on_its_page(site: Site, alice: Visitor) -> None:
    site.web.serve(SYSTEMS, Answer(status=404))
    await change_feed(site, last_fetched_at=None, last_success_at=None)

    await alice.send(HEALTH, do="refresh")

    assert "It has not worked yet since it was added on" in text_of(await alice.see("/feed/1"))


async def test_a_new_address_is_looked_for_on_the_host_of_a_feed_that_names_no_site(site: Site, alice: Visitor) -> None:
    link = b'<link rel=alternate type="application/rss+xml" href="/systems.xml">'
    site.web.serve("/", Answer(link, headers={"Content-Type": "text/html"}))
    await change_feed(site, site_url=None)

    answer = await alice.send("/feed/1/health/test", url="", at="site")

    assert "One feed was found" in answer.text


async def test_a_truncated_document_is_reported_although_the_feed_is_healthy(site: Site, alice: Visitor) -> None:
    feed = b"<rss><channel><title>Quiet Systems</title><item><guid>x</guid><title>News</title></item><item><title>Ha"
    site.web.serve(SYSTEMS, Answer(feed))
    await change_feed(site, last_fetched_at=None)

    await alice.send(HEALTH, do="refresh")
    page = await alice.see(HEALTH)
    archive = await alice.see("/feed/1/archive")

    assert "Healthy The last fetch worked." in text_of(page.xpath("//h2[@id='state']")[0])
    [problem] = page.xpath("//div[@class='problem']")
    assert text_of(problem).startswith("The document ends in the middleThe complete entries were stored.")
    assert "fetched again, because its last response ended in the middle" in facts(page)["Next fetch"]
    assert "a feed truncated" in text_of(archive)


async def test_a_refresh_reports_its_result(site: Site, alice: Visitor) -> None:
    feed = b"<rss><channel><title>Quiet Systems</title><item><guid>x</guid><title>News</title></item></channel></rss>"
    site.web.serve(SYSTEMS, Answer(feed))
    await change_feed(site, last_fetched_at=None)

    await alice.send(HEALTH, do="refresh")

    assert "One new item." in text_of(await alice.see(HEALTH))


async def test_previous_urls_the_hub_and_the_certificate_are_shown(site: Site, alice: Visitor) -> None:
    before = facts(await alice.see(HEALTH))
    ends = datetime.now(UTC) + timedelta(days=20, hours=1)
    await change_feed(
        site,
        url="https://new.example/feed",
        hub_url="https://hub.example/",
        certificate_until=to_iso(ends),
        moved_to="https://newer.example/feed",
        moved_count=2,
    )
    old = {"feed_id": 1, "url": "https://old.example/feed", "until": "2026-02-01T00:00:00.000Z"}
    await site.app.db.batch([Step(feed_urls.insert().values(**old))])

    after = facts(await alice.see(HEALTH))
    await change_feed(site, certificate_until="2026-02-03T00:00:00.000Z")
    ended = facts(await alice.see(HEALTH))

    assert (before["Redirects"], before["WebSub"]) == ("no permanent ones", "It has no WebSub hub.")
    assert "Certificate" not in before
    assert after["Redirects"].startswith(
        "2 times in a row its server redirected permanently to https://newer.example/feed"
    )
    assert after["Redirects"].endswith("it was at https://old.example/feed")
    assert "https://hub.example/" in after["WebSub"]
    assert after["Certificate"].endswith("for another 20 days")
    assert ended["Certificate"].startswith("expired on 3 Feb")


async def test_the_page_does_not_wait_for_a_slow_server(
    site: Site, alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "WAIT_SECONDS", 0.0)
    await change_feed(site, last_fetched_at=None)

    await alice.send(HEALTH, do="refresh")

    assert "It is still being fetched. Reload the page in a moment." in text_of(await alice.see(HEALTH))


async def test_a_refresh_that_was_not_queued_says_that_it_happens_later(
    site: Site, alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cannot_send() -> bool:
        return False

    monkeypatch.setattr(pages, "WAIT_SECONDS", 0.0)
    (await pages_of(site)).state.work = replace(site.parts.batches, can_send=cannot_send)

    await alice.send(HEALTH, do="refresh")

    assert "The job queue does not answer at the moment." in text_of(await alice.see(HEALTH))


async def test_a_full_refetch_sends_no_etag(site: Site, alice: Visitor) -> None:
    await change_feed(site, etag='"old"', last_modified="Wed, 18 Feb 2026 08:30:00 GMT", last_fetched_at=None)

    await alice.send(HEALTH, do="refetch")

    asked = site.web.seen(SYSTEMS)[-1].headers
    assert ("if-none-match" in asked, "if-modified-since" in asked) == (False, False)


async def test_a_feed_is_paused_and_resumed(alice: Visitor) -> None:
    await alice.send(HEALTH, do="pause")
    paused = await alice.see(HEALTH)
    await alice.send(HEALTH, do="refresh")
    refused = text_of(await alice.see(HEALTH))
    await alice.send(HEALTH, do="resume")

    assert "You paused it, so it is not fetched for you." in text_of(paused)
    assert [button.get("value") for button in paused.xpath("//main//button[@name='do']")] == [
        "refresh",
        "refetch",
        "resume",
    ]
    assert "It is paused. Resume it first." in refused
    assert "Healthy" in text_of(await alice.see(HEALTH))


async def test_another_url_is_checked_and_nothing_changes(site: Site, alice: Visitor) -> None:
    answer = await alice.send(f"{HEALTH}/test", url=site.web.url("/zh.xml"))

    assert answer.status_code == 200
    assert "One feed was found" in answer.text
    assert "磨坊笔记" in answer.text
    assert f'href="/subscribe?url={site.web.url("/zh.xml").replace(":", "%3A")}"' in answer.text
    assert facts(await alice.see(HEALTH))["Address"] == site.web.url(SYSTEMS)


async def test_the_site_is_searched_for_feeds_again(site: Site, alice: Visitor) -> None:
    link = f'<link rel="alternate" type="application/rss+xml" href="{SYSTEMS}">'
    site.web.serve("/home", Answer(f"<html><head>{link}</head></html>".encode(), headers={"Content-Type": "text/html"}))
    await change_feed(site, site_url=site.web.url("/home"))

    answer = await alice.send(f"{HEALTH}/test", url="", at="site")

    assert "This is the current address." in answer.text


@pytest.mark.parametrize(
    ("url", "said"), [("", "aria-invalid"), ("ftp://x", "aria-invalid"), ("/nowhere", "No feed was found")]
)
async def test_a_url_without_a_feed_is_explained(site: Site, alice: Visitor, url: str, said: str) -> None:
    answer = await alice.send(f"{HEALTH}/test", url=site.web.url(url) if url.startswith("/") else url)

    assert said in answer.text
    assert answer.status_code == (200 if url.startswith("/") else 422)


async def test_text_from_servers_is_escaped(site: Site, alice: Visitor) -> None:
    hostile = "<script>alert(1)</script>"
    failed = {"outcome": "dns", "message": hostile}
    await site.app.db.batch([Step(fetch_log.update().values(**failed))])
    await change_feed(site, last_error=hostile, consecutive_failures=3, next_fetch_why=hostile, title=hostile)

    for path in (HEALTH, "/health-of-feeds"):
        page = await alice.see(path)
        assert page.xpath("//main//script | //h1/script") == []
        assert hostile in page.xpath("string(//main)")


@pytest.mark.parametrize("do", ["", "explode"])
async def test_an_unknown_action_is_refused(alice: Visitor, do: str) -> None:
    assert (await alice.send(HEALTH, do=do)).status_code == 422


async def test_other_users_cannot_see_or_change_a_feed(site: Site, alice: Visitor, charlie: Visitor) -> None:
    assert (await charlie.client.get(HEALTH)).status_code == 404
    assert (await alice.client.get("/feed/9007199254740993/health")).status_code == 404
    for do in ("refresh", "refetch", "pause", "resume"):
        assert (await charlie.send(HEALTH, do=do)).status_code == 404
    assert (await charlie.send(f"{HEALTH}/test", url=site.web.url(SYSTEMS))).status_code == 404

    assert "Healthy" in text_of(await alice.see(HEALTH))


async def test_the_page_is_available_in_chinese(alice: Visitor) -> None:
    page = await alice.see(HEALTH, headers={"Accept-Language": "zh-CN"})

    assert "最近一次抓取成功。" in text_of(page)
    assert page.xpath("//svg[contains(@class, 'heat')]/text/text()")[:1] == ["周一"]


# --- all feeds --------------------------------------------------------------------------------------------


async def test_the_overview_lists_feeds_that_need_attention_with_links(site: Site, alice: Visitor) -> None:
    assert "All 2 feeds are healthy" in text_of(await alice.see("/health-of-feeds"))
    await change_feed(site, status="error", consecutive_failures=12, last_error="HTTP 404")
    await change_feed(site, 2, last_entry_at="2026-01-01T00:00:00.000Z", usual_gap_seconds=3600)

    page = await alice.see("/health-of-feeds")

    assert [heading.get("id") for heading in page.xpath("//main//h2")] == ["broken", "idle"]
    assert page.xpath("//section//a/@href") == ["/feed/1/health", "/feed/2/health"]
    assert "Broken 12 timesHTTP 404" in text_of(page)
    assert page.xpath("//nav//a[@aria-current='page']/@href") == ["/health-of-feeds"]


async def test_the_overview_of_a_user_without_feeds_is_empty(site: Site, alice: Visitor, charlie: Visitor) -> None:
    await change_feed(site, status="error", consecutive_failures=12)

    page = await charlie.see("/health-of-feeds")

    assert "No feeds yet" in text_of(page)
    assert "Quiet Systems" not in text_of(page)
