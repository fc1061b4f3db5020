"""Reading without a connection what was opened with one."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from tests.browser import sample_feeds
from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser

BrowserUserMaker = Callable[..., BrowserUser]

READY = "async () => Boolean((await navigator.serviceWorker.getRegistration())?.active)"
KEPT = "async (n) => (await (await caches.open('articles')).keys()).length === n"
CLICK_FIRST = "document.querySelector('[data-kept] a').click()"


def with_worker(browser_user: BrowserUserMaker) -> BrowserUser:
    alice = browser_user(service_workers="allow", at="/all")
    alice.until(READY)
    # A page that was there before its worker may have to be opened again.
    alice.page.goto("/all")
    alice.until("() => Boolean(navigator.serviceWorker.controller)")
    return alice


def test_what_was_opened_can_be_read_and_marked_without_a_connection(browser_user: BrowserUserMaker) -> None:
    alice = with_worker(browser_user)
    beside, alone = alice.titles()[:2]
    alone_url = alice.page.get_by_role("link", name=alone).get_attribute("href")
    alice.page.goto(str(alone_url))
    alice.until(KEPT, 1)
    alice.page.goto("/all")
    alice.press("j")
    alice.reads(beside)
    alice.until(KEPT, 2)
    alice.until("() => localStorage.length === 0")
    alice.page.context.set_offline(True)

    alice.page.goto("/unread")
    expect(alice.page.get_by_role("heading", level=1)).to_have_text("No connection")
    expect(alice.page.locator("[data-kept] a")).to_have_text([beside, alone])
    assert serious(alice.page) == []
    # Browsers say "online" now and then; the click must win.
    alice.page.evaluate(f"() => {{ {CLICK_FIRST}; dispatchEvent(new Event('online')) }}")
    alice.reads(beside)
    expect(alice.page.locator(".article .body")).to_contain_text("two kinds of stone")
    alice.page.goto(str(alone_url))
    alice.reads(alone)
    alice.press("s")
    expect(alice.page.locator(".toast")).to_contain_text("No connection")
    assert alice.page.evaluate("localStorage.length") == 1

    alice.page.context.set_offline(False)
    alice.until("() => localStorage.length === 0")
    alice.page.goto("/starred")
    assert alone in alice.titles()


def test_nothing_is_kept_for_who_comes_after(browser_user: BrowserUserMaker, sessions: dict[str, Any]) -> None:
    alice = BrowserUser(browser_user(service_workers="allow").page)
    alice.page.goto("/login")
    alice.page.goto("/all")
    alice.until(READY)
    alice.page.goto("/all")
    alice.until("() => Boolean(navigator.serviceWorker.controller)")
    alice.press("j")
    alice.page.wait_for_url("**/item/**")
    alice.until(KEPT, 1)
    url = alice.page.url

    alice.page.goto("/logout")
    alice.page.get_by_role("main").get_by_role("button", name="Sign out").click()
    alice.page.wait_for_url("**/login")
    # The session that other tests would come with is over.
    sessions.clear()
    alice.page.goto(url)
    assert "/login" in alice.page.url
    alice.until("async () => !(await caches.has('articles'))")
    alice.page.context.set_offline(True)
    alice.page.goto(url)

    expect(alice.page.get_by_role("heading", level=1)).to_have_text("No connection")
    alice.page.context.set_offline(False)
    # The page that says so looks again by itself as soon as there is a connection.
    alice.page.wait_for_url("**/login**")
    alice.sign_in(sample_feeds.NAME, sample_feeds.PASSWORD)
