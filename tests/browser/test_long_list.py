"""Reading on: what a key costs does not grow with the length of the list, and no step of it looks at the whole page."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.browser_user import NO_MARK_WAITS, BrowserUser
from tests.browser.page_timers import ADDRESS

BrowserUserMaker = Callable[..., BrowserUser]

WATCH_HISTORY = """() => {
  window.addresses = [];
  const replace = history.replaceState;
  history.replaceState = function (...to) { addresses.push(to[2]); return replace.apply(this, to); };
}"""
# By an id the browser finds an element at once.
WATCH_SEARCHES = """() => {
  window.searches = [];
  for (const name of ["querySelector", "querySelectorAll", "getElementsByClassName", "getElementsByTagName"]) {
    const search = Document.prototype[name];
    Document.prototype[name] = function (words) {
      if (!/^#[\\w-]+$/.test(words)) searches.push(`${name} ${words}`);
      return search.call(this, words);
    };
  }
}"""
COUNTERS = "() => [...document.querySelectorAll('summary')].map((each) => getComputedStyle(each).counterIncrement)"


def open_article(alice: BrowserUser, place: int) -> None:
    """Opens the article at this place of the list, which is the next one."""
    number = alice.page.locator(".row").nth(place).get_attribute("data-id")
    alice.press("j")
    expect(alice.page.locator(".pane .article")).to_have_id(f"article-{number}")


def test_only_the_article_at_which_the_reader_pauses_becomes_the_address(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440, held=[ADDRESS])
    open_article(alice, 0)
    alice.page.evaluate(WATCH_HISTORY)
    first = alice.page.url

    for place in (1, 2, 3):
        open_article(alice, place)
    while_going = alice.page.url
    alice.let_go_of(ADDRESS)

    number = alice.page.locator(".row.current").get_attribute("data-id")
    assert while_going == first
    expect(alice.page).to_have_url(re.compile(rf"/item/{number}\b"))
    assert len(alice.page.evaluate("() => addresses")) == 1


def test_reading_on_searches_only_parts_of_the_page(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440)
    open_article(alice, 0)
    alice.until(NO_MARK_WAITS)
    alice.page.evaluate(WATCH_SEARCHES)

    open_article(alice, 1)
    alice.until(NO_MARK_WAITS)

    assert alice.page.evaluate("() => searches") == []


def test_no_menu_makes_the_browser_count_the_whole_page_anew(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440)
    open_article(alice, 0)

    counters = alice.page.evaluate(COUNTERS)

    assert len(counters) > 5
    assert set(counters) == {"none"}
