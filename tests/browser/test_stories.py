"""The same article in several feeds: shown once, with the other feeds, and read once."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import story_data
from tests.browser.browser_user import NO_MARK_WAITS, BrowserUser
from tests.browser.site_server import SiteServer, run_site_server
from tests.browser.story_data import BRIDGE, LIBRARY

BrowserUserMaker = Callable[..., BrowserUser]


@pytest.fixture(scope="module")
def site_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteServer]:
    with run_site_server(tmp_path_factory.mktemp("site"), story_data.prepare) as site_server:
        yield site_server


def test_an_article_of_several_feeds_is_shown_once_with_links_to_the_others(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    row = alice.page.locator(".row", has_text=BRIDGE)

    expect(row).to_have_count(1)
    expect(row.locator(".feed")).to_have_text("Valley Gazette")
    row.locator("summary", has_text="Also in 2 feeds").click()
    expect(row.locator(".also a")).to_have_text(["Rails & Sleepers", "Northern Wire"])
    assert alice.titles().count(LIBRARY) == 1
    row.locator(".also a").first.click()
    alice.reads(BRIDGE)
    expect(alice.page.locator(".article .meta a").first).to_have_text("Rails & Sleepers")
    expect(alice.page.locator(".also-in a")).to_have_text(["Valley Gazette", "Northern Wire"])


def test_reading_it_reads_it_in_all_feeds(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/unread")
    before = alice.unread()
    row = alice.page.locator(".row", has_text=LIBRARY)

    row.locator(".title").click()
    alice.reads(LIBRARY)
    alice.until(NO_MARK_WAITS)

    expect(alice.page.locator("#count-unread")).to_have_text(str(before - 2))
    alice.page.goto("/all")
    expect(alice.page.locator(".row.unread", has_text=LIBRARY)).to_have_count(0)


def test_the_keyboard_opens_the_other_feeds(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/search?q=bridge")
    alice.page.goto("/all")
    rows = alice.page.locator(".row")
    expect(rows.first).to_be_visible()
    place = alice.titles().index(BRIDGE)
    for _ in range(place + 1):
        alice.press("n")

    alice.press("e")
    expect(alice.page.locator(".also[open] a").first).to_be_focused()
    alice.press("e")
    expect(alice.page.locator(".also[open]")).to_have_count(0)
    alice.press("o")
    alice.reads(BRIDGE)
    alice.press("e")
    expect(alice.page.locator(".pane .also-in a").first).to_be_focused()
    alice.press("Enter")
    expect(alice.page.locator(".article .meta a").first).to_have_text("Rails & Sleepers")


def test_a_search_shows_it_once(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/search?q=bridge")

    assert alice.titles() == [BRIDGE]
    expect(alice.page.locator(".row summary")).to_have_text("Also in 2 feeds")


def test_without_scripts_the_other_feeds_open_too(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", java_script_enabled=False)
    row = alice.page.locator(".row", has_text=BRIDGE)

    row.locator("summary").click()
    row.locator(".also a").last.click()

    expect(alice.page.locator(".article .meta a").first).to_have_text("Northern Wire")


def test_it_can_be_shown_in_each_feed(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/settings")

    alice.page.get_by_label("Show it in each feed").check()
    alice.page.get_by_role("button", name="Save", exact=True).click()
    alice.page.goto("/all")
    assert alice.titles().count(BRIDGE) == 3
    expect(alice.page.locator(".also")).to_have_count(0)

    alice.page.goto("/settings")
    alice.page.get_by_label("Show it once").check()
    alice.page.get_by_role("button", name="Save", exact=True).click()
    alice.page.goto("/folders")
    news = alice.page.locator("li", has=alice.page.locator("input[value=News]"))
    news.locator("select[name=stories]").select_option("each")
    news.get_by_role("button", name="Save").click()
    alice.page.goto("/all")
    assert alice.titles().count(BRIDGE) == 3
