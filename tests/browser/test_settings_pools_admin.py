"""Settings, pools and administration in a browser: what scripts add, and accessibility."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Route, expect

from feedmill.library.users.find_caller import caller_of_api_key
from feedmill.library.users.manage_users import make_user
from feedmill.model.pool import PoolKind, PoolRule
from feedmill.model.user import Actor
from feedmill.store.pools.grants import grant_access
from feedmill.store.users.api_keys import add_api_key
from tests.browser.axe import COLOURS, serious
from tests.browser.browser_user import BrowserUser
from tests.browser.sample_feeds import PASSWORD, find_user
from tests.browser.site_server import SiteServer
from tests.serve.rest.site import Site

BrowserUserMaker = Callable[..., BrowserUser]
# In one go: the pools are sent every two seconds, with a mark that is new.
SEEN_AT = """(mark, age) => {
  mark.getAnimations()[0].currentTime = age
  return getComputedStyle(mark).visibility
}"""
PATHS = (
    "/settings",
    "/settings/sessions",
    "/settings/api-keys",
    "/settings/webhooks",
    "/pools",
    "/pools/new",
    "/pools/1",
    "/admin",
    "/admin/users/new",
    "/admin/users/1",
    "/admin/users/2",
    "/admin/feeds",
    "/admin/feeds/1",
    "/admin/queue",
    "/admin/hosts",
    "/admin/hosts/127.0.0.1",
    "/admin/feeds/1/merge?into=2",
    "/admin/storage?retention=yes",
    "/admin/log",
    "/admin/settings",
    "/admin/audit",
)


@pytest.fixture(scope="module")
def pooled(site_server: SiteServer) -> SiteServer:
    site_server.do(_prepare(site_server.site))
    return site_server


async def _prepare(site: Site) -> None:
    """A pool that Charlie may take from, a key of Alice's for it alone, and a key that was made with a key."""
    db, now = site.app.db, datetime.now(UTC)
    group = await site.app.pools.create("Mills", PoolRule())
    await site.app.pools.fill("Mills")
    charlie = await make_user(db, "charlie", PASSWORD, False, now, Actor())
    await grant_access(db, group, charlie, Actor(), now)
    alice = await find_user(site, "alice")
    await add_api_key(db, alice.id, "indexer", "fm_indexer", ["pools"], now, groups=[group.id])
    await add_api_key(db, alice.id, "maker", "fm_maker", ["read", "write"], now)
    who = await caller_of_api_key(db, "fm_maker", now)
    await add_api_key(db, alice.id, "made", "fm_made", ["read"], now, now + timedelta(days=1), maker=who)


def test_axe_finds_nothing_serious_on_any_screen_and_none_is_too_wide(
    pooled: SiteServer, browser_user: BrowserUserMaker
) -> None:
    alice = browser_user(width=360, height=740)

    found, too_wide = {}, []
    for path in PATHS:
        alice.page.goto(path)
        found[path] = serious(alice.page)
        if alice.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(path)

    assert (found, too_wide) == ({path: [] for path in PATHS}, [])


@pytest.mark.parametrize("theme", ["dark", "sepia", "contrast"])
def test_text_can_be_read_in_every_theme(pooled: SiteServer, browser_user: BrowserUserMaker, theme: str) -> None:
    alice = browser_user()
    alice.page.context.add_cookies([{"name": "feedmill_appearance", "value": f"theme={theme}", "url": alice.page.url}])

    found = {}
    for path in ("/settings/sessions", "/pools", "/admin/queue"):
        alice.page.goto(path)
        found[path] = serious(alice.page, COLOURS)

    assert list(found.values()) == [[], [], []]


def test_an_admin_lets_somebody_take_and_takes_the_right_away(
    pooled: SiteServer, browser_user: BrowserUserMaker
) -> None:
    page = browser_user(at="/pools/1").page
    takers = page.get_by_role("region", name="Access to this group")
    takers.get_by_role("button", name="Remove charlie").click()
    expect(takers).to_contain_text("Only admins.")

    takers.get_by_label("Give another account access").fill("Charlie")
    takers.get_by_role("button", name="Allow").click()

    expect(takers.get_by_role("rowheader", name="charlie")).to_be_visible()


def test_the_pools_are_shown_as_they_change_and_say_when_they_grow_old(
    pooled: SiteServer, browser_user: BrowserUserMaker
) -> None:
    alice = browser_user(at="/pools")
    page = alice.page
    level = page.locator(".pool .level strong").first
    before = int(level.inner_text())
    stale = page.locator(".stale")
    assert stale.evaluate(SEEN_AT, 9_999) == "hidden"
    page.get_by_role("link", name=re.compile("^Change")).focus()

    pooled.do(pooled.site.app.pools.pop("Mills", PoolKind.TITLES, 2))

    expect(level).to_have_text(str(before - 2))
    alice.until("() => document.activeElement.textContent.trim().startsWith('Change')")
    assert stale.evaluate(SEEN_AT, 10_001) == "visible"


def test_the_pools_are_shown_as_they_change_when_scripts_arrive_one_after_the_other(
    pooled: SiteServer, browser_user: BrowserUserMaker
) -> None:
    alice = browser_user()
    arrived: list[str] = []

    def hold_back(route: Route) -> None:
        if arrived:
            alice.page.wait_for_timeout(500)
        arrived.append(route.request.url)
        route.continue_()

    alice.page.route("**/vendor/*.js", hold_back)
    with alice.page.expect_request("**/pools/events"):
        alice.page.goto("/pools")


@pytest.mark.parametrize("width", [390, 820, 1280])
def test_every_field_of_a_pool_stays_inside_its_part_of_the_form(browser_user: BrowserUserMaker, width: int) -> None:
    alice = browser_user(at="/pools/new", width=width)

    beyond = alice.page.locator("fieldset.part input, fieldset.part textarea").evaluate_all(
        "(fields) => fields.filter((field) => field.getBoundingClientRect().right"
        " > field.closest('.part').getBoundingClientRect().right).map((field) => field.name)"
    )

    assert beyond == []


def test_a_new_key_is_copied(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(permissions=["clipboard-read", "clipboard-write"], at="/settings/api-keys")
    alice.page.get_by_label("Name").fill("A phone")
    alice.page.get_by_role("button", name="Create key").click()
    key = alice.page.get_by_label(re.compile("Your new key")).input_value()

    alice.page.locator(".secret").get_by_role("button", name="Copy").click()

    expect(alice.page.locator(".toast")).to_have_text("Copied.")
    assert alice.page.evaluate("navigator.clipboard.readText()") == key


def test_keys_can_be_turned_off_and_rows_count_as_read_when_scrolled_past(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(height=420, at="/settings")
    alice.page.get_by_label("Also when scrolled past").check()
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
