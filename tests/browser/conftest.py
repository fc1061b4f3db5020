"""A running site for each module of tests, and users signed in to it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import sample_feeds
from tests.browser.browser_user import BrowserUser
from tests.browser.page_timers import hold_timers
from tests.browser.site_server import SiteServer, run_site_server

# Only a failing test waits this long; the machine may be slow.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def site_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteServer]:
    with run_site_server(tmp_path_factory.mktemp("site"), sample_feeds.prepare) as site_server:
        yield site_server


@pytest.fixture
def visit(chromium_service: Any, site_server: SiteServer) -> Iterator[Callable[..., Page]]:
    """Opens a browser window without a session; a script error or a policy violation in it fails the test.

    `held` are the lengths of timers that do not go off by themselves there.
    """
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def open_window(width: int = 1280, height: int = 800, held: Sequence[int] = (), **options: Any) -> Page:
        size = {"width": width, "height": height}
        # What a worker asks for is hidden from tests; those that are about it let it in.
        options.setdefault("service_workers", "block")
        context = chromium_service.browser.new_context(viewport=size, base_url=site_server.origin, **options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        hold_timers(context, *held)
        page: Page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def sessions() -> dict[str, Any]:
    """The browser cookies of the users that have signed in already in this module, by name."""
    return {}


@pytest.fixture
def browser_user(visit: Callable[..., Page], sessions: dict[str, Any]) -> Callable[..., BrowserUser]:
    """Signs in a user in a new window, at the unread list or at another page."""

    def sign_in(name: str = sample_feeds.NAME, at: str = "/unread", **options: Any) -> BrowserUser:
        browser_user = BrowserUser(visit(storage_state=sessions.get(name), **options))
        if name not in sessions:
            browser_user.sign_in(name, sample_feeds.PASSWORD)
            sessions[name] = {"cookies": browser_user.page.context.cookies(), "origins": []}
        if not browser_user.page.url.endswith(at):
            browser_user.page.goto(at)
        return browser_user

    return sign_in
