"""The sidebar with many feeds, by mouse, keyboard and touch."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import sample_feeds
from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer, run_site_server
from tests.browser.test_touch import TouchInput, middle
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
    alice.until("() => document.activeElement.matches('input')")
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

    page.get_by_role("button", name="Collapse all folders").click()
    expect(page.locator(".feeds li[data-in]")).to_have_count(0)
    toggles.nth(2).focus()
    alice.press("Enter")
    expect(toggles.nth(2)).to_have_attribute("aria-expanded", "true")
    expect(toggles.nth(2)).to_be_focused()
    page.reload()
    expect(page.locator('.toggle[aria-expanded="true"]')).to_have_count(1)

    page.get_by_role("button", name="Expand all folders").click()
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
    page.get_by_role("button", name="Collapse all folders").tap()
    expect(page.locator(".feeds li[data-in]")).to_have_count(0)
    page.get_by_role("button", name="Expand all folders").tap()
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


def row(alice: BrowserUser, name: str) -> Locator:
    return alice.page.locator(".feeds li", has_text=name)


def test_a_row_has_a_menu_by_the_right_button_and_by_its_own(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440)
    page, menu = alice.page, alice.page.get_by_role("dialog")

    row(alice, "Feed 3 about").locator("a").click(button="right")
    expect(menu.get_by_role("heading", name="Feed 3 about")).to_be_visible()
    assert serious(page) == []
    menu.get_by_label("Name").fill("Feed 3 renamed")
    with page.expect_navigation():
        menu.get_by_role("button", name="Rename").click()
    expect(page).to_have_url("/all")
    expect(row(alice, "Feed 3 renamed")).to_have_count(1)

    row(alice, "Feed 3 renamed").hover()
    row(alice, "Feed 3 renamed").get_by_role("button", name="Menu").click()
    menu.get_by_label("Folder").select_option(label="Folder 2")
    with page.expect_navigation():
        menu.get_by_role("button", name="Move").click()
    expect(page.locator(".toast")).to_be_visible()
    page.get_by_role("searchbox", name="Filter feeds").fill("renamed")
    expect(page.locator(".feeds .folder")).to_have_count(1)
    expect(page.locator(".feeds .folder .name")).to_have_text("Folder 2")


def test_a_row_has_a_menu_by_keys(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440)
    page, menu = alice.page, alice.page.get_by_role("dialog")
    title = page.locator(".feeds li:not(.folder):has(.count:not([hidden])) .name", has_text="Feed ").first.inner_text()
    row(alice, title).locator("a").focus()

    alice.press("Tab", "Enter")
    expect(menu.get_by_role("heading", name=title)).to_be_visible()
    alice.press("j", "ArrowDown", "Escape")
    expect(menu).to_have_count(0)
    expect(row(alice, title).get_by_role("button", name="Menu")).to_be_focused()
    alice.press("Shift+Tab", "Shift+F10")
    expect(menu.get_by_role("heading", name=title)).to_be_visible()
    alice.press("ArrowDown")
    expect(menu.get_by_role("button", name="Mark all as read")).to_be_focused()
    with page.expect_navigation():
        alice.press("Enter")

    expect(page).to_have_url("/all")
    expect(page.locator(".toast")).to_contain_text("Undo")
    expect(row(alice, title).locator(".count")).to_be_hidden()


def test_a_held_row_opens_its_menu_and_is_not_clicked(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=390, height=740, has_touch=True, is_mobile=True)
    touch = TouchInput(alice.page.context.new_cdp_session(alice.page))
    alice.page.get_by_role("button", name="Open views and feeds").tap()

    row(alice, "Feed 5 about").scroll_into_view_if_needed()
    touch.down(*middle(row(alice, "Feed 5 about").locator("a")))
    menu = alice.page.get_by_role("dialog")
    expect(menu.get_by_role("heading", name="Feed 5 about")).to_be_visible()
    touch.up()
    expect(alice.page).to_have_url("/all")
    menu.get_by_role("button", name="Refresh").tap()

    expect(alice.page.locator("#strip .strip")).to_be_visible()
    expect(menu).to_have_count(0)


def test_feeds_and_folders_are_dragged(browser_user: BrowserUserMaker) -> None:
    # All rows are in sight: Playwright would scroll to the target between pressing the button and moving.
    alice = browser_user(at="/all", width=1440, height=1600)
    page = alice.page
    folder = page.locator(".feeds .folder")
    with page.expect_response("**/sidebar"):
        page.get_by_role("button", name="Collapse all folders").click()
    expect(page.locator(".feeds li[data-in]")).to_have_count(0)
    names = folder.locator(".name").all_inner_texts()

    with page.expect_response("**/sidebar?**"):
        folder.nth(2).locator("a").drag_to(folder.nth(0), target_position={"x": 60, "y": 3})
    expect(folder.locator(".name").first).to_have_text(names[2])
    page.reload()
    expect(folder.locator(".name").first).to_have_text(names[2])
    with page.expect_response("**/sidebar?**"):
        row(alice, "Not To Be Trusted").locator("a").drag_to(folder.nth(1))
    expect(row(alice, "Not To Be Trusted")).to_have_count(0)
    folder.nth(1).locator(".toggle").click()

    expect(page.locator(".feeds li[data-in]", has_text="Not To Be Trusted")).to_have_count(1)
