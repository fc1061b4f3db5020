"""Settings, pools and administration in a browser: what scripts add, and that anybody can use them."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from feedmill.model.pool import Kind, Rule
from tests.browser.axe import COLOURS, serious
from tests.browser.guest import Guest
from tests.browser.house import House

GuestMaker = Callable[..., Guest]
PATHS = (
    "/settings", "/settings/sessions", "/settings/keys", "/settings/webhooks", "/pools", "/pools/new", "/pools/1",
    "/admin", "/admin/users/new", "/admin/users/1", "/admin/feeds", "/admin/feeds/1", "/admin/queue", "/admin/hosts",
    "/admin/hosts/127.0.0.1", "/admin/feeds/1/merge?into=2", "/admin/storage?retention=yes", "/admin/log",
    "/admin/settings", "/admin/audit",
)  # fmt: skip


@pytest.fixture(scope="module")
def pooled(house: House) -> House:
    house.do(house.site.app.pools.create("Mills", Rule()))
    house.do(house.site.app.pools.fill("Mills"))
    return house


def test_axe_finds_nothing_serious_on_any_screen_and_none_is_too_wide(pooled: House, guest: GuestMaker) -> None:
    alice = guest(width=360, height=740)

    found, too_wide = {}, []
    for path in PATHS:
        alice.page.goto(path)
        found[path] = serious(alice.page)
        if alice.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(path)

    assert (found, too_wide) == ({path: [] for path in PATHS}, [])


@pytest.mark.parametrize("theme", ["dark", "sepia", "contrast"])
def test_text_can_be_read_in_every_theme(pooled: House, guest: GuestMaker, theme: str) -> None:
    alice = guest()
    alice.page.context.add_cookies([{"name": "feedmill_look", "value": f"theme={theme}", "url": alice.page.url}])

    found = {}
    for path in ("/settings/sessions", "/pools", "/admin/queue"):
        alice.page.goto(path)
        found[path] = serious(alice.page, COLOURS)

    assert list(found.values()) == [[], [], []]


def test_the_pools_are_shown_as_they_change_and_say_when_they_grow_old(pooled: House, guest: GuestMaker) -> None:
    page = guest().page
    page.goto("/pools")
    level = page.locator(".pool .level strong").first
    before = int(level.inner_text())
    stale = page.locator(".stale")
    assert stale.evaluate("mark => getComputedStyle(mark).visibility") == "hidden"
    page.get_by_role("link", name=re.compile("^Change")).focus()

    pooled.do(pooled.site.app.pools.pop("Mills", Kind.TITLES, 2))

    expect(level).to_have_text(str(before - 2))
    assert page.evaluate("document.activeElement.textContent.trim()").startswith("Change")
    stale.evaluate("mark => (mark.getAnimations()[0].currentTime = 10_001)")
    assert stale.evaluate("mark => getComputedStyle(mark).visibility") == "visible"


def test_a_new_key_is_copied(guest: GuestMaker) -> None:
    alice = guest(permissions=["clipboard-read", "clipboard-write"], at="/settings/keys")
    alice.page.get_by_label("Name").fill("A phone")
    alice.page.get_by_role("button", name="Make the key").click()
    key = alice.page.get_by_label(re.compile("Your new key")).input_value()

    alice.page.locator(".secret").get_by_role("button", name="Copy").click()

    expect(alice.page.locator(".toast")).to_have_text("Copied.")
    assert alice.page.evaluate("navigator.clipboard.readText()") == key


def test_keys_can_be_turned_off_and_rows_count_as_read_when_scrolled_past(guest: GuestMaker) -> None:
    alice = guest(height=420, at="/settings")
    alice.page.get_by_label("When scrolled past, too").check()
    alice.page.get_by_label("Off", exact=True).check()
    alice.page.get_by_role("button", name="Save", exact=True).click()
    expect(alice.page.locator(".toast")).to_have_text("Saved.")
    alice.page.goto("/unread")
    before = alice.unread()

    alice.press("j")
    assert "reading" not in (alice.page.locator(".frame").get_attribute("class") or "")
    with alice.page.expect_response("**/marks"):
        alice.page.mouse.move(640, 300)
        alice.page.mouse.wheel(0, 400)

    assert 0 < alice.unread() < before
    expect(alice.page.locator(".row").first).not_to_have_class(re.compile("unread"))
    expect(alice.page.locator(".row").last).to_have_class(re.compile("unread"))
