"""The sidebar with many feeds, by mouse, keyboard and touch."""

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
