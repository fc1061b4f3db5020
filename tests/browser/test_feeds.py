"""Feeds are found, added, refreshed and imported while one looks on."""

import asyncio
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.axe import COLOURS, serious
from tests.browser.browser_user import BrowserUser
from tests.browser.page_timers import ENDED_JOB
from tests.browser.sample_feeds import SampleEntry, SampleFeed, as_rss
from tests.browser.site_server import SiteServer
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest

BrowserUserMaker = Callable[..., BrowserUser]
MANY = 30
RSS = {"Content-Type": "application/rss+xml"}
PATHS = (
    "/subscribe",
    "/feeds",
    "/feed/1/edit",
    "/folders",
    "/import",
    "/subscribe/added?id=1",
    "/subscribe?url=http://10.0.0.1/",
)


def publish(site_server: SiteServer, path: str, title: str, entries: int = 3) -> str:
    sample_feed = SampleFeed(path, title, [SampleEntry(f"{title} {n}", hours=n) for n in range(1, entries + 1)])
    return site_server.site.web.serve(path, Answer(as_rss(sample_feed), headers=RSS))


def test_axe_finds_nothing_serious_on_screens_of_feeds(browser_user: BrowserUserMaker) -> None:
    alice, small = browser_user(color_scheme="light"), browser_user(width=320, height=700, color_scheme="dark")

    found = {}
    for path in PATHS:
        alice.page.goto(path)
        small.page.goto(path)
        found[path] = [*serious(alice.page), *serious(small.page, COLOURS)]
        assert small.page.evaluate("document.documentElement.scrollWidth") <= 320, path

    assert found == {path: [] for path in PATHS}


def test_a_page_is_pasted_into_the_dialog_and_its_feed_fills_by_itself(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    feed = publish(site_server, "/new.xml", "Brand new", 6)
    links = "".join(f'<link rel=alternate type="application/rss+xml" href="/{name}.xml">' for name in ("new", "zh"))
    front = site_server.site.web.serve("/front", Answer(links.encode(), headers={"Content-Type": "text/html"}))
    alice = browser_user()

    alice.press("+")
    alice.page.locator("dialog #f-url").fill(feed)
    alice.press("Enter")
    expect(alice.page.locator("dialog .offer")).to_have_count(1)
    alice.page.locator("dialog #f-url").fill(front)
    alice.press("Enter")
    expect(alice.page.locator("dialog .offer")).to_have_count(2)
    expect(alice.page.locator("dialog .offer").nth(1)).to_contain_text("You are already subscribed to this feed.")
    assert serious(alice.page) == []
    alice.page.get_by_role("button", name="Add", exact=True).click()
    expect(alice.page.locator("dialog .added-rows")).to_contain_text("6 items")
    alice.press("Escape")

    expect(alice.page.locator(".sidebar")).to_contain_text("Brand new")


def test_a_feed_that_waits_turns_from_queued_to_its_items(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    alice = browser_user(at="/subscribe")
    alice.page.locator("#f-url").fill(site_server.site.web.serve("/late.xml", Answer(status=500)))
    alice.press("Enter")
    alice.page.get_by_text("Add it anyway", exact=True).click()
    publish(site_server, "/late.xml", "Late", 5)

    alice.page.get_by_role("button", name="Add anyway").click()

    expect(alice.page.locator(".added-rows")).to_contain_text("5 items")


def test_who_does_not_want_to_wait_keeps_the_form(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    async def never(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await asyncio.Event().wait()

    alice = browser_user(at="/subscribe")
    alice.page.locator("#f-url").fill(site_server.site.web.serve("/never", never))
    alice.press("Enter")
    expect(alice.page.locator(".looking")).to_contain_text("checking")

    alice.page.get_by_role("link", name="Cancel").click()

    expect(alice.page.locator("#found")).to_be_empty()
    expect(alice.page.locator("#f-url")).to_be_focused()
    alice.page.locator("#f-url").fill(publish(site_server, "/quick.xml", "Quick"))
    alice.press("Enter")
    expect(alice.page.locator(".offer")).to_contain_text("Quick")


def test_a_refresh_is_seen_in_two_windows_and_closes_when_it_went_well(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    alice = browser_user()
    other = BrowserUser(alice.page.context.new_page())
    other.page.goto("/all")
    alice.page.bring_to_front()

    alice.press("R")

    for window in (alice, other):
        expect(window.page.locator(".strip .standing")).to_contain_text(" failed")
    # What has the focus does not go away.
    other.page.get_by_role("link", name="Details").focus()
    expect(other.page.locator(".strip")).to_have_attribute("data-status", "done")
    expect(other.page.locator(".strip progress")).to_be_visible()
    assert serious(other.page) == []
    expect(alice.page.locator(".strip")).to_have_attribute("data-status", "done")
    for window in (alice, other):
        window.let_go_of(ENDED_JOB)
    expect(alice.page.locator(".strip")).to_have_count(0)
    expect(other.page.locator(".strip")).to_have_count(1)


def test_what_failed_stays_with_its_reason(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    site_server.site.web.serve("/ar.xml", Answer(status=404))
    alice = browser_user()
    alice.page.get_by_role("button", name="Refresh all feeds").first.click()

    expect(alice.page.locator(".strip")).to_have_attribute("data-status", "done")
    alice.page.get_by_role("link", name="Details").click()

    expect(alice.page.locator(".strip .log li").first).to_have_class("failed")
    expect(alice.page.locator(".strip .log li").first).to_contain_text("HTTP 404")
    alice.page.get_by_role("button", name="Close").click()
    expect(alice.page.locator(".strip")).to_have_count(0)


def test_an_import_shows_how_far_it_is(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    urls = [publish(site_server, f"/many/{n}.xml", f"Many {n}", 1) for n in range(MANY)]
    lines = "".join(f'<outline type="rss" text="Many" xmlUrl="{url}"/>' for url in urls)
    alice = browser_user(at="/import")
    alice.page.locator("#f-file").set_input_files(
        {"name": "feeds.opml", "mimeType": "text/x-opml", "buffer": f"<opml><body>{lines}</body></opml>".encode()}
    )

    alice.page.get_by_role("button", name="Preview").click()
    alice.page.get_by_role("button", name=f"Import {MANY} feeds").click()

    expect(alice.page.locator(".job .standing")).to_contain_text(f"of {MANY} feeds")
    expect(alice.page.locator('.job[data-status="done"] .standing')).to_contain_text(
        f"{MANY} of {MANY} feeds · {MANY} new · 0 failed", timeout=60_000
    )


def test_a_range_of_feeds_is_ticked_with_shift(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/feeds")
    picks = alice.page.locator(".pick")

    picks.nth(0).click()
    picks.nth(3).click(modifiers=["Shift"])

    expect(alice.page.locator(".bulk-line .chosen")).to_have_text("4 selected")
    alice.page.get_by_label("All on this page").check()
    expect(alice.page.locator(".pick:checked")).to_have_count(picks.count())


def test_rules_are_tried_without_being_kept(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/feed/1/edit")
    rules = alice.page.locator("#rules details").first

    rules.locator("summary").click()
    rules.get_by_label("Block items that match one of these").fill("in:title:sluice")
    rules.get_by_role("button", name="Preview").click()

    expect(rules.locator(".preview .blocked")).to_have_count(1)
    expect(rules.locator(".preview .blocked")).to_contain_text("A short history of the sluice")
    expect(alice.page).to_have_url("/feed/1/edit")
    alice.page.reload()
    expect(rules.get_by_label("Block items that match one of these")).to_have_value("")
