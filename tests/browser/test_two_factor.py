"""Two factors in a real browser: from setting them up to signing in with a code and with a recovery code."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from feedmill.library.users.manage_users import make_user
from feedmill.library.users.totp import code_of_step, step_at
from feedmill.library.users.two_factor import reset_two_factor
from feedmill.model.user import Actor, User
from tests.browser import sample_feeds
from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer

NAME = "dora"
# One step ahead: a code of the current step was used before. The server allows for such a clock.
AHEAD = timedelta(seconds=30)


@pytest.fixture
def dora(site_server: SiteServer) -> Iterator[User]:
    """A user without a second factor, also after the test."""
    db = site_server.site.app.db
    if (found := site_server.do(_find(site_server))) is None:
        found = site_server.do(make_user(db, NAME, sample_feeds.PASSWORD, False, datetime.now(UTC), Actor()))
    yield found
    changed = site_server.do(sample_feeds.find_user(site_server.site, NAME))
    site_server.do(reset_two_factor(db, changed, Actor(), datetime.now(UTC)))


async def _find(server: SiteServer) -> User | None:
    try:
        return await sample_feeds.find_user(server.site, NAME)
    except ValueError:
        return None


def _enter_password(page: Page) -> None:
    page.goto("/login")
    page.locator("input[name=name]").fill(NAME)
    page.locator("input[name=password]").fill(sample_feeds.PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/login/code*")


def _set_up(page: Page) -> tuple[str, list[str]]:
    """The secret and the recovery codes."""
    page.goto("/settings")
    page.get_by_role("link", name="Set up two-factor authentication").click()
    expect(page.locator("figure svg")).to_be_visible()
    secret = "".join(page.locator("main code").inner_text().split())
    page.get_by_label("Current password").fill(sample_feeds.PASSWORD)
    page.get_by_label("Code from the app").fill(code_of_step(secret, step_at(datetime.now(UTC))))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    return secret, page.locator("pre").inner_text().split()


@pytest.mark.usefixtures("dora")
@pytest.mark.parametrize("with_scripts", [True, False])
def test_from_setting_up_to_signing_in_with_a_code_and_a_recovery_code(
    visit: Callable[..., Page], with_scripts: bool
) -> None:
    page = visit(java_script_enabled=with_scripts)
    BrowserUser(page).sign_in(NAME, sample_feeds.PASSWORD)
    secret, codes = _set_up(page)
    assert len(codes) == 10
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as a file").click()
    assert download.value.path().read_text().split() == codes
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_text("10 are left.")).to_be_visible()

    second = visit(java_script_enabled=with_scripts)
    _enter_password(second)
    expect(second.get_by_label("Code from the app")).to_be_focused()
    assert not with_scripts or serious(second) == []
    second.keyboard.type("000000")
    second.keyboard.press("Enter")
    expect(second.get_by_role("alert")).to_contain_text("wrong or was used before")
    second.keyboard.type(code_of_step(secret, step_at(datetime.now(UTC) + AHEAD)))
    second.keyboard.press("Enter")
    second.wait_for_url("**/unread")

    third = visit(java_script_enabled=with_scripts)
    _enter_password(third)
    third.get_by_role("link", name="Use a recovery code").click()
    third.get_by_label("Recovery code").fill(codes[3])
    third.keyboard.press("Enter")
    third.wait_for_url("**/unread")
    third.goto("/settings/two-factor")
    expect(third.get_by_text("9 are left.")).to_be_visible()


@pytest.mark.usefixtures("dora")
def test_it_is_turned_off_on_the_page(visit: Callable[..., Page]) -> None:
    page = visit()
    BrowserUser(page).sign_in(NAME, sample_feeds.PASSWORD)
    _, codes = _set_up(page)
    assert serious(page) == []

    page.goto("/settings/two-factor")
    assert serious(page) == []
    page.get_by_label("Current password").fill(sample_feeds.PASSWORD)
    page.get_by_label("Code from the app, or a recovery code").fill(codes[0])
    page.get_by_role("button", name="Turn off").click()

    expect(page.get_by_text("Two-factor authentication is off")).to_be_visible()
