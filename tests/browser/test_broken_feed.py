"""A feed that fails: its page tells what happened, and what can be done is there to press."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from feedmill.store.database import Step
from feedmill.store.schema import feeds
from tests.browser.axe import COLOURS, serious
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer
from tests.scripted_web import Answer

BrowserUserMaker = Callable[..., BrowserUser]
HTML = {"Content-Type": "text/html"}


@pytest.fixture(autouse=True)
def failing(site_server: SiteServer) -> None:
    """The first feed has been answered with 404 twice."""
    site_server.site.web.serve("/miller.xml", Answer(status=404))
    missing = '{"code":"fetch.http_status","status":404}'
    values = {"consecutive_failures": 2, "last_error": missing, "last_error_kind": "http_4xx", "last_fetched_at": None}
    site_server.do(site_server.site.app.db.batch([Step(feeds.update().where(feeds.c.id == 1).values(values))]))


def test_a_retry_by_keyboard_stays_on_the_page_and_names_the_reason(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/feed/1")

    alice.page.get_by_role("button", name="Try again now").focus()
    alice.press("Enter")

    expect(alice.page.locator("#toasts")).to_contain_text("It failed again; the next automatic try stays as planned.")
    assert alice.page.url.endswith("/feed/1")
    problem = alice.page.locator(".problem")
    expect(problem).to_contain_text("The feed is not at this address (404)")
    expect(problem).to_contain_text("It last worked on")
    expect(problem).to_contain_text("The next automatic try is in")
    problem.get_by_role("link", name="Health").click()
    expect(alice.page.locator(".problem strong").first).to_have_text("The feed is not at this address (404)")


def test_its_new_address_is_looked_for_by_touch(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    web, db = site_server.site.web, site_server.site.app.db
    front = web.serve("/", Answer(b'<link rel=alternate type="application/rss+xml" href="/zh.xml">', headers=HTML))
    site_server.do(db.batch([Step(feeds.update().where(feeds.c.id == 1).values(site_url=front))]))
    alice = browser_user(at="/feed/1", width=390, height=800, has_touch=True, is_mobile=True)

    alice.page.get_by_role("button", name="Look for its new address").tap()

    expect(alice.page.locator("#tested")).to_contain_text("One feed was found")
    expect(alice.page.locator("#tested")).to_contain_text("/zh.xml")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_notice_is_accessible_and_fits_a_phone(browser_user: BrowserUserMaker, scheme: str) -> None:
    alice = browser_user(at="/feed/1", width=320, height=700, color_scheme=scheme)

    assert [*serious(alice.page), *serious(alice.page, COLOURS)] == []
    assert alice.page.evaluate("document.documentElement.scrollWidth") <= 320
