"""Custom keyboard shortcuts, and the box that opens a page by its name."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser

BrowserUserMaker = Callable[..., BrowserUser]


@pytest.mark.parametrize("keys", [("g", "o"), ("Control+k",)])
def test_a_few_letters_and_enter_lead_to_a_feed(browser_user: BrowserUserMaker, keys: tuple[str, ...]) -> None:
    alice = browser_user()
    alice.press(*keys)
    expect(alice.page.get_by_role("dialog")).to_contain_text("磨坊笔记")
    assert serious(alice.page) == []

    alice.page.keyboard.type("stone rad")
    expect(alice.page.locator(".places a:visible")).to_have_count(1)
    alice.press("Enter")

    alice.page.wait_for_url("**/feed/*")
    expect(alice.page.get_by_role("heading", level=1)).to_have_text("Water & Stone Radio")


def test_arrows_move_in_the_box(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    alice.press("g", "o")
    expect(alice.page.get_by_role("dialog")).to_be_visible()

    alice.press("ArrowDown", "ArrowDown", "Enter")

    alice.page.wait_for_url("**/today")


def test_keys_that_were_chosen_do_what_they_stand_for(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/keys/edit")
    assert serious(alice.page) == []
    alice.page.get_by_role("button", name="Miniflux keys").click()
    alice.page.wait_for_url("**/keys")
    alice.page.goto("/all")
    first, second = alice.titles()[:2]

    alice.press("n")
    alice.reads(first)
    alice.press("n")
    alice.reads(second)
    alice.press_until_sent("f")
    expect(alice.page.locator(".row.current.starred")).to_have_count(1)
    alice.press("l")

    expect(alice.page.locator(".row.current.later")).to_have_count(0)
    alice.page.goto("/keys/edit")
    alice.page.get_by_role("button", name="Feedmill keys").click()
    alice.page.wait_for_url("**/keys")


def test_b_opens_the_original_behind(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    alice.press("n")

    with alice.page.context.expect_page() as opened:
        alice.press("b")

    opened.value.close()
    assert alice.page.url.endswith("/unread")


def test_a_key_saves_the_article_to_the_services(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/settings/services/new?kind=linkding")
    assert serious(alice.page) == []
    alice.page.get_by_label("Address").fill("http://127.0.0.1:9/")
    alice.page.get_by_label("Token").fill("t0ken")
    alice.page.get_by_role("button", name="Add service").click()
    alice.page.wait_for_url("**/settings/services")
    alice.page.goto("/all")

    alice.press("n", "S")
    expect(alice.page.locator("#toasts")).to_contain_text("The article is being saved to Linkding.")

    alice.press("x", "n", "x")
    alice.page.locator(".bulk").get_by_text("Save to").click()
    alice.page.locator(".bulk").get_by_role("button", name="Linkding").click()
    expect(alice.page.locator("#toasts")).to_contain_text("2 articles are being saved to Linkding.")
    expect(alice.page.locator(".pick:checked")).to_have_count(0)
