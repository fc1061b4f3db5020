"""A furnished house for a whole file of tests, and guests in it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import papers
from tests.browser.guest import Guest
from tests.browser.house import House, open_house

# Only what fails waits so long; a machine may be slow.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house"), papers.furnish) as house:
        yield house


@pytest.fixture
def visit(chromium_service: Any, house: House) -> Iterator[Callable[..., Page]]:
    """Opens a browser window of nobody; an error of a script or a broken policy in it fails the test."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def open_window(width: int = 1280, height: int = 800, **options: Any) -> Page:
        size = {"width": width, "height": height}
        # What a worker asks for is hidden from tests; those that are about it let it in.
        options.setdefault("service_workers", "block")
        context = chromium_service.browser.new_context(viewport=size, base_url=house.origin, **options)
        contexts.append(context)
        page: Page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def sessions() -> dict[str, Any]:
    """Who has signed in already, in this file: by name the browser's cookies."""
    return {}


@pytest.fixture
def guest(visit: Callable[..., Page], sessions: dict[str, Any]) -> Callable[..., Guest]:
    """Somebody who is signed in, in a window of their own, before what is unread or `at` another page."""

    def sign_in(name: str = papers.NAME, at: str = "/unread", **options: Any) -> Guest:
        guest = Guest(visit(storage_state=sessions.get(name), **options))
        if name not in sessions:
            guest.sign_in(name, papers.PASSWORD)
            sessions[name] = {"cookies": guest.page.context.cookies(), "origins": []}
        if not guest.page.url.endswith(at):
            guest.page.goto(at)
        return guest

    return sign_in
