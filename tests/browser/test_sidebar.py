"""The sidebar with many feeds, by mouse, keyboard and touch."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import sample_feeds
from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer, run_site_server
from tests.serve.rest.site import Site
from tests.serve.web.many_feeds import add_many_feeds

BrowserUserMaker = Callable[..., BrowserUser]
FEEDS, FOLDERS = 300, 6
IS_IN_SIGHT = """(link) => {
  const room = document.querySelector('.feeds-part').getBoundingClientRect(), box = link.getBoundingClientRect();
  return box.top >= room.top && box.bottom <= room.bottom;
}"""


async def prepare(site: Site) -> None:
    await sample_feeds.prepare(site)
    await add_many_feeds(site.app.db, await sample_feeds.find_user(site), FEEDS, FOLDERS, unread_every=10)


@pytest.fixture(scope="module")
def site_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteServer]:
    with run_site_server(tmp_path_factory.mktemp("site"), prepare) as site_server:
        yield site_server


def test_tools_stay_in_sight_and_rows_are_drawn_when_they_are_scrolled_to(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440, height=800)
    page = alice.page
    assert page.locator(".feeds li:not(.gap)").count() < 60
    last, more = page.locator(".feeds a", has_text="Feed 300 about"), page.locator("nav summary", has_text="More")
    height = page.evaluate("() => document.querySelector('.feeds-part').scrollHeight")

    page.locator(".feeds-part").evaluate("(part) => { part.scrollTop = part.scrollHeight * 0.9; }")
    expect(last).to_have_count(1)
    last.scroll_into_view_if_needed()

    assert page.evaluate("() => document.querySelector('.feeds-part').scrollHeight") == height
    for tool in (more, page.get_by_title("Sign out"), page.locator("#count-unread")):
        expect(tool).to_be_in_viewport()
    more.click()
    expect(page.get_by_role("link", name="Administration")).to_be_in_viewport()
    assert serious(page) == []
    page.reload()
    expect(page.get_by_role("link", name="Administration")).to_be_in_viewport()


def test_the_feeds_are_filtered_and_reached_by_keys_alone(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all")

    alice.press("g", "/")
    alice.page.keyboard.type("feed 127")
    rows = alice.page.locator(".feeds li:not(.folder) > a")
    expect(rows).to_have_count(1)
    alice.press("ArrowDown", "ArrowDown")
    expect(rows).to_be_focused()
    alice.press("ArrowUp", "ArrowUp")
    alice.press("Escape")
    expect(rows.nth(30)).to_be_attached()
    alice.page.keyboard.type("feed 271")
    expect(rows).to_have_count(1)
    alice.press("ArrowDown", "ArrowDown", "Enter")

    expect(alice.page.locator(".bar h1")).to_contain_text("Feed 271 about")
    current = alice.page.locator(".feeds a[aria-current]")
    expect(current).to_contain_text("Feed 271 about")
    alice.until(f"() => ({IS_IN_SIGHT})(document.querySelector('.feeds a[aria-current]'))")


def test_folders_and_the_switch_for_unread_stay_as_they_are_left(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all")
    page = alice.page
    toggles = page.locator(".toggle")

    page.get_by_role("button", name="Close all folders").click()
    expect(page.locator(".feeds li[data-in]")).to_have_count(0)
    toggles.nth(2).focus()
    alice.press("Enter")
    expect(toggles.nth(2)).to_have_attribute("aria-expanded", "true")
    expect(toggles.nth(2)).to_be_focused()
    page.reload()
    expect(page.locator('.toggle[aria-expanded="true"]')).to_have_count(1)

    page.get_by_role("button", name="Open all folders").click()
    expect(page.locator('.toggle[aria-expanded="false"]')).to_have_count(0)
    page.get_by_role("button", name="Only feeds with unread").click()
    expect(page.locator(".feeds a.quiet")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Only feeds with unread")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".feeds a.quiet")).to_have_count(0)
    page.get_by_role("button", name="Only feeds with unread").click()
    expect(page.locator(".feeds a.quiet").first).to_be_attached()


def test_the_drawer_of_a_phone_has_it_all(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=390, height=740, has_touch=True, is_mobile=True)
    page = alice.page

    page.get_by_role("button", name="Open views and feeds").tap()
    page.get_by_role("button", name="Close all folders").tap()
    expect(page.locator(".feeds li[data-in]")).to_have_count(0)
    page.get_by_role("button", name="Open all folders").tap()
    page.get_by_role("searchbox", name="Filter feeds").tap()
    page.keyboard.type("feed 299")

    page.locator(".feeds a", has_text="Feed 299 about").tap()
    expect(page.locator(".bar h1")).to_contain_text("Feed 299 about")


def fresh_feed(site_server: SiteServer, name: str, entries: int) -> None:
    """Alice subscribes to another feed, and a program of hers fetches it."""
    user = site_server.do(sample_feeds.find_user(site_server.site))
    new = [sample_feeds.SampleEntry(f"{name} {number}", hours=0) for number in range(entries)]
    feed = sample_feeds.SampleFeed(f"/{name}.xml", name, new)
    site_server.do(sample_feeds.subscribe_to(site_server.site, user, feed))


def test_counts_arrive_by_one_stream_for_all_windows(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    alice = browser_user(at="/all")
    asked: list[str] = []
    alice.page.context.on("request", lambda request: asked.append(request.url.partition("/counts")[2]))
    alice.page.add_init_script("navigator.setAppBadge = async (n) => { window.badge = n; }")
    with alice.page.expect_request("**/counts/events"):
        alice.page.reload()
    before = alice.unread()
    expect(alice.page).to_have_title(f"({before}) All · Feedmill")
    other = BrowserUser(alice.page.context.new_page())
    other.page.goto("/unread")
    today = alice.page.locator("[data-count=today]")
    today_before = today.text_content() or ""
    asked.clear()

    fresh_feed(site_server, "arrived", 3)

    for window in (alice, other):
        expect(window.page.locator("#count-unread")).to_have_text(str(before + 3))
    expect(alice.page).to_have_title(f"({before + 3}) All · Feedmill")
    expect(today).not_to_have_text(today_before)
    assert alice.page.evaluate("() => window.badge") == before + 3
    assert [path for path in asked if path] == []

    # The other window goes on with the stream when the first is closed.
    with alice.page.context.expect_event("request", lambda request: request.url.endswith("/counts/events")):
        alice.page.close()
    fresh_feed(site_server, "later-on", 1)
    expect(other.page.locator("#count-unread")).to_have_text(str(before + 4))
    other.press("j")
    expect(other.page.locator(".pane .article")).to_be_visible()
    expect(other.page).to_have_title(re.compile(rf"^\({before + 3}\) .+ · Feedmill$"))


def test_without_the_stream_the_counts_are_asked_for(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    alice = browser_user(at="/appearance")
    alice.page.route("**/counts/events", lambda route: route.fulfill(status=503))
    alice.page.clock.install()
    alice.page.goto("/all")
    before = alice.unread()

    fresh_feed(site_server, "asked-for", 2)
    alice.page.clock.run_for(61_000)

    expect(alice.page.locator("#count-unread")).to_have_text(str(before + 2))
