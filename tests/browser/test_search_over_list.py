"""Search opens over a list: its results take the place of the rows, and the list comes back as it was."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.test_menus_and_focus import changes

BrowserUserMaker = Callable[..., BrowserUser]

LARCH = ["Larch, oak, and the long argument about wheels", "Episode 40: Listening to larch"]


def search(alice: BrowserUser, text: str) -> None:
    alice.press("/")
    expect(alice.page.get_by_label("Search for")).to_be_focused()
    alice.press("Control+a")
    alice.page.keyboard.type(text)
    alice.press("Enter")


def test_results_replace_the_list_and_escape_gives_it_back(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440)
    alice.press("n", "n", "n")
    titles, seen = alice.titles(), changes(alice)

    search(alice, "in:title larch mass")
    expect(alice.page.locator(".answer")).to_contain_text("No results for")
    search(alice, "in:title larch")

    expect(alice.page.locator(".answer .count")).to_have_text("2 results")
    assert sorted(alice.titles()) == sorted(LARCH)
    expect(alice.page).to_have_url(re.compile(r"/search\?q=in%3Atitle\+larch$"))
    assert serious(alice.page) == []
    # The keys work in the results, and Escape goes back one step at a time.
    first = alice.titles()[0]
    alice.press("j")
    alice.reads(first)
    alice.press("Escape")
    expect(alice.page.locator(".pane .article")).to_have_count(0)
    assert sorted(alice.titles()) == sorted(LARCH)
    alice.press("Escape")
    expect(alice.page.locator("#search-over-list")).to_be_hidden()
    assert alice.titles() == titles
    expect(alice.page).to_have_url(re.compile("/all$"))
    expect(alice.page.locator(".row").nth(2)).to_contain_class("current")
    assert [each for each in seen if "/marks" not in each] == []


def test_back_and_forward_go_through_a_search(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/feed/1?show=all")
    titles = alice.titles()

    search(alice, '"open')
    expect(alice.page.get_by_role("alert")).to_contain_text("This quotation mark is not closed.")
    expect(alice.page.locator(".row")).to_have_count(0)
    search(alice, "larch")
    expect(alice.page.locator(".answer .count")).to_have_text("4 results")
    alice.page.get_by_label("Everywhere").check()
    search(alice, "in:title larch")
    expect(alice.page.locator(".answer .count")).to_have_text("2 results")
    alice.page.go_back()

    expect(alice.page.locator("#search-over-list")).to_be_hidden()
    assert alice.titles() == titles
    alice.page.go_forward()
    expect(alice.page.locator(".answer .count")).to_have_text("2 results")
    # The address of the results is that of the search page.
    alice.page.reload()
    expect(alice.page.locator("search .count")).to_have_text("2 results")
    assert sorted(alice.titles()) == sorted(LARCH)


def test_search_by_touch_opens_over_the_list_and_closes(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=390, height=740, has_touch=True, is_mobile=True)
    titles = alice.titles()
    alice.page.locator(".row").nth(12).scroll_into_view_if_needed()

    alice.page.get_by_role("link", name="Search").tap()
    expect(alice.page.get_by_label("Search for")).to_be_in_viewport()
    alice.page.get_by_label("Search for").fill("in:title larch")
    alice.page.locator("#search-over-list").get_by_role("button", name="Search", exact=True).tap()
    expect(alice.page.locator(".answer .count")).to_have_text("2 results")
    assert alice.page.evaluate("() => document.documentElement.scrollWidth") == 390
    alice.page.locator(".row .title").first.tap()
    expect(alice.page.locator(".pane .article")).to_be_visible()
    alice.page.go_back()
    alice.page.get_by_role("button", name="Close search").tap()

    expect(alice.page.locator("#search-over-list")).to_be_hidden()
    assert alice.titles() == titles
    # An article covers the list here, so that the search has a page of its own.
    alice.page.locator(".row .title").first.tap()
    expect(alice.page.locator(".pane .article")).to_be_visible()
    alice.press("/")
    alice.page.wait_for_url("**/search")
