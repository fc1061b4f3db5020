"""Importing, and the tables and plots of feeds at every width: nothing is cut off, and the button is in sight."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import COLOURS, serious
from tests.browser.browser_user import BrowserUser

BrowserUserMaker = Callable[..., BrowserUser]
# With a line that can't be taken at the end.
OPML = (
    "<opml version='2.0'><body>"
    + "".join(f"<outline text='Feed {n}' xmlUrl='https://feeds.example/{n}.xml'/>" for n in range(150))
    + "<outline text='Mail' xmlUrl='mailto:somebody@example.org'/></body></opml>"
)
WIDTHS = (320, 390, 500, 600, 650, 700, 760, 800, 820, 900, 960, 1000, 1050, 1100, 1150, 1180, 1280, 1440)
TABLES = ("/feed/1/archive", "/archive", "/admin", "/admin/feeds", "/admin/hosts", "/admin/settings", "/admin/audit")
MOST_CUT_OFF = "(tables) => Math.max(0, ...tables.map((table) => table.scrollWidth - table.clientWidth))"
OVERLAPS = """
(labels) => labels.some((one, at) => labels.slice(at + 1).some((other) => {
  const [a, b] = [one, other].map((each) => each.getBoundingClientRect());
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}))
"""


def preview(page: Page) -> None:
    page.locator("#f-opml").fill(OPML)
    page.get_by_role("button", name="Preview").click()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 740)])
def test_the_button_of_a_long_import_is_in_sight_and_what_cannot_be_taken_comes_first(
    browser_user: BrowserUserMaker, width: int, height: int
) -> None:
    alice = browser_user(at="/import", width=width, height=height)

    preview(alice.page)

    button = alice.page.get_by_role("button", name="Import 150 feeds")
    expect(button).to_be_in_viewport(ratio=1)
    expect(alice.page.locator(".screen details summary").first).to_contain_text("1")
    expect(alice.page.locator(".screen .lines li").first).to_contain_text("mailto:somebody@example.org")
    alice.page.locator(".screen .lines li").last.scroll_into_view_if_needed()
    expect(button).to_be_in_viewport(ratio=1)
    assert [*serious(alice.page), *serious(alice.page, COLOURS)] == []


@pytest.mark.parametrize("locale", ["en", "zh-CN"])
def test_no_column_of_the_feeds_table_is_cut_off(browser_user: BrowserUserMaker, locale: str) -> None:
    alice = browser_user(at="/feeds", locale=locale)

    cut_off = {}
    for width in WIDTHS:
        alice.page.set_viewport_size({"width": width, "height": 800})
        cut_off[width] = alice.page.locator(".scroller").evaluate("(table) => table.scrollWidth - table.clientWidth")

    assert cut_off == dict.fromkeys(WIDTHS, 0)


@pytest.mark.parametrize("locale", ["en", "zh-CN"])
def test_no_other_table_is_cut_off(browser_user: BrowserUserMaker, locale: str) -> None:
    alice = browser_user(locale=locale)

    cut_off = {}
    for path in TABLES:
        alice.page.goto(path)
        for width in WIDTHS:
            alice.page.set_viewport_size({"width": width, "height": 800})
            tables = alice.page.locator(".scroller:has(table)")
            cut_off[path, width] = tables.evaluate_all(MOST_CUT_OFF)

    assert {place: cut for place, cut in cut_off.items() if cut} == {}


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_below_plots_of_few_fetches_do_not_collide(browser_user: BrowserUserMaker, width: int) -> None:
    alice = browser_user(at="/feed/1/health", width=width)

    for axis in alice.page.locator(".axis").all():
        assert axis.locator("span").evaluate_all(OVERLAPS) is False
        assert axis.evaluate("(line) => line.scrollWidth <= line.clientWidth")
