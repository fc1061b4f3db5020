"""Entries without a date: pages say when they were found, and they do not fill the top of lists."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser import sample_feeds
from tests.browser.browser_user import BrowserUser
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.browser.site_server import SiteServer

BrowserUserMaker = Callable[..., BrowserUser]
FEED = SampleFeed("/undated.xml", "Undated", [SampleEntry(f"Without a date {n}", "", None) for n in (1, 2, 3)])


def test_a_new_feed_without_dates_is_below_what_has_dates(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    user = site_server.do(sample_feeds.find_user(site_server.site))
    site_server.do(sample_feeds.subscribe_to(site_server.site, user, FEED))
    alice = browser_user(at="/all")
    titles = [entry.title for entry in FEED.entries]

    alice.press("G")
    expect(alice.page.locator(".row")).to_have_count(22)
    assert alice.titles()[-3:] == titles
    assert alice.page.locator(".day h2").last.inner_text() == "Without a date"
    expect(alice.page.locator(".row time").last).to_have_text(re.compile(r"^found \d+ \w+$"))
    expect(alice.page.locator(".row time").first).to_have_text(re.compile(r"^\d+ \w+ ago$"))
    for _ in alice.titles():
        alice.press("n")
    alice.press("o")
    alice.reads(titles[-1])
    expect(alice.page.locator(".article .meta")).to_contain_text("found")
    expect(alice.page.locator(".article .meta")).not_to_contain_text("to read")
    alice.press("Escape", "g", "d")
    alice.page.wait_for_url("**/today")
    assert not set(titles) & set(alice.titles())
