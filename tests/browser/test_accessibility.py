"""Accessibility: axe finds nothing moderate or serious; every screen in every theme is in `test_every_screen.py`."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import COLOURS, serious
from tests.browser.browser_user import BrowserUser

BrowserUserMaker = Callable[..., BrowserUser]
PATHS = (
    "/unread",
    "/today",
    "/all",
    "/starred",
    "/item/1?in=/all",
    "/appearance",
    "/appearance/css",
    "/keys",
    "/keys/edit",
    "/go",
    "/logout",
    "/nowhere",
)


def test_every_page_has_one_heading_and_its_landmarks_and_axe_finds_nothing_serious(
    browser_user: BrowserUserMaker,
) -> None:
    alice = browser_user(color_scheme="light")

    found = {}
    for path in PATHS:
        alice.page.goto(path)
        parts = [alice.page.locator("h1"), alice.page.locator("main"), alice.page.get_by_role("navigation")]
        found[path] = (serious(alice.page), [part.count() for part in parts])

    assert found == {path: ([], [1, 1, 1]) for path in PATHS[:-1]} | {PATHS[-1]: ([], [1, 1, 0])}


def test_axe_finds_nothing_serious_while_reading_or_on_a_phone(
    browser_user: BrowserUserMaker, visit: Callable[..., Page]
) -> None:
    alice = browser_user()
    alice.press("j")
    alice.page.wait_for_selector(".pane .article")
    assert serious(alice.page) == []
    alice.press("?")
    alice.page.wait_for_selector("dialog .keys")
    assert serious(alice.page) == []

    small = browser_user(width=360, height=740)
    assert serious(small.page) == []
    small.page.get_by_role("button", name="Open views and feeds").click()
    assert serious(small.page) == []

    door = visit()
    door.goto("/login")
    assert serious(door) == []


def test_the_actions_of_an_article_are_inside_a_landmark(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/item/1")
    expect(alice.page.get_by_role("banner").get_by_role("toolbar")).to_be_visible()

    alice.page.goto("/all")
    alice.press("j")

    expect(alice.page.get_by_role("complementary").get_by_role("toolbar")).to_be_visible()


@pytest.mark.parametrize("density", ["titles", "compact", "cards", "full"])
def test_every_density_shows_every_entry(browser_user: BrowserUserMaker, density: str) -> None:
    alice = browser_user()
    alice.page.context.add_cookies(
        [{"name": "feedmill_appearance", "value": f"density={density}", "url": alice.page.url}]
    )

    alice.page.goto("/all")

    alice.page.locator(".row").last.scroll_into_view_if_needed()
    expect(alice.page.locator(".row")).to_have_count(19)
    assert all(alice.titles())
    assert serious(alice.page, COLOURS) == []


def test_the_keyboard_reaches_the_content_first(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()

    alice.press("Tab", "Enter")

    expect(alice.page.locator("#main")).to_be_focused()
