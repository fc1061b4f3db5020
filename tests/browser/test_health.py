"""Health and archive in a browser: what scripts add, on a phone too, and nothing that axe calls serious."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import COLOURS, serious
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer

BrowserUserMaker = Callable[..., BrowserUser]
PATHS = (
    "/feed/1/health",
    "/health-of-feeds",
    "/feed/1/archive",
    "/feed/1/archive/images",
    "/feed/1/archive/1",
    "/feed/1/archive/1/diff",
    "/feed/1/archive/reparse",
    "/archive?days=1",
)


@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_window(
    browser_user: BrowserUserMaker, width: int
) -> None:
    alice = browser_user(width=width)

    found = {}
    for path in PATHS:
        alice.page.goto(path)
        alice.page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)")
        found[path] = (serious(alice.page), alice.page.evaluate("document.documentElement.scrollWidth") <= width)

    assert found == {path: ([], True) for path in PATHS}


@pytest.mark.parametrize("theme", ["dark", "contrast"])
def test_health_can_be_read_in_every_theme(browser_user: BrowserUserMaker, theme: str) -> None:
    alice = browser_user()
    alice.page.context.add_cookies([{"name": "feedmill_appearance", "value": f"theme={theme}", "url": alice.page.url}])

    for path in ("/feed/1/health", "/feed/1/archive/1"):
        alice.page.goto(path)
        assert serious(alice.page, COLOURS) == []


def test_another_address_is_tested_in_place(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    alice = browser_user(at="/feed/1/health")

    alice.page.get_by_label("Another address").fill(site_server.site.web.url("/zh.xml"))
    alice.page.get_by_role("button", name="Test this address").click()

    expect(alice.page.locator("#tested")).to_contain_text("One feed was found")
    assert alice.page.url.endswith("/feed/1/health")
    alice.page.get_by_label("Another address").fill("ftp://nowhere")
    alice.page.get_by_role("button", name="Test this address").click()
    expect(alice.page.get_by_label("Another address")).to_have_attribute("aria-invalid", "true")
    expect(alice.page.locator("#tested")).not_to_contain_text("One feed was found")


def test_the_report_is_copied(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    alice = browser_user(permissions=["clipboard-read", "clipboard-write"], at="/feed/1/health")

    alice.page.get_by_role("button", name="Copy the report").click()

    expect(alice.page.locator("#toasts")).to_contain_text("Copied.")
    copied = alice.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"Feed: {site_server.site.web.url('/miller.xml')}\nState: healthy")
