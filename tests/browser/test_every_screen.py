"""Every screen is accessible, fits the smallest phone, and requests nothing from other servers."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Response

from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.library.filters.filter_jobs import apply_backwards
from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.filters.mutes import mute
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft, FilterSubject
from feedmill.model.user import Caller
from feedmill.serve.web.core.appearance import APPEARANCE_VALUES
from feedmill.store.entries.labels import add_label
from feedmill.store.search.saved_searches import save_search
from tests.browser import (
    sample_feeds,
    test_accessibility,
    test_feeds,
    test_filters,
    test_health,
    test_settings_pools_admin,
)
from tests.browser.axe import serious, unreadable
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer

BrowserUserMaker = Callable[..., BrowserUser]
MOST_SCRIPT = 45_000
SMALLEST = 320
THEMES = [theme for theme in APPEARANCE_VALUES["theme"] if theme != "system"]
PATHS = (
    "/unread",
    "/today",
    "/all",
    "/starred",
    "/later",
    "/history",
    "/feed/1",
    "/folder/1",
    "/label/1",
    "/item/1?in=/all",
    "/search",
    "/search?q=larch",
    "/search?q=zeppelin+wheel",
    "/search?q=%22open&in=/feed/1",
    "/filters",
    "/filters/new",
    "/filters/1",
    "/muted",
    "/bookmarks",
    "/labels",
    "/subscribe",
    "/starters",
    "/feeds",
    "/feed/1/edit",
    "/folders",
    "/import",
    "/feed/1/health",
    "/feed/1/menu",
    "/health-of-feeds",
    "/feed/1/archive",
    "/feed/1/archive/images",
    "/feed/1/archive/reparse",
    "/archive",
    "/settings",
    "/settings/two-factor",
    "/settings/two-factor/set-up",
    "/settings/sessions",
    "/settings/api-keys",
    "/settings/apps",
    "/settings/services",
    "/settings/services/new?kind=template",
    "/settings/notifications",
    "/settings/output-feeds",
    "/settings/webhooks",
    "/pools",
    "/pools/new",
    "/admin",
    "/admin/users/new",
    "/admin/users/1",
    "/admin/feeds",
    "/admin/feeds/1",
    "/admin/feeds/1/merge?into=2",
    "/admin/queue",
    "/admin/hosts",
    "/admin/hosts/127.0.0.1",
    "/admin/storage",
    "/admin/log",
    "/admin/settings",
    "/admin/audit",
    "/feed/1/archive/1",
    "/feed/1/edit/preview",
    "/appearance",
    "/appearance/css",
    "/keys",
    "/keys/edit",
    "/go",
    "/logout",
    "/offline",
    "/register",
    "/nowhere",
)
# Axe takes its time: it looks at each screen once.
SEEN_BY_AXE_ELSEWHERE = {
    *test_accessibility.PATHS,
    *test_feeds.PATHS,
    *test_filters.PATHS,
    *test_health.PATHS,
    *test_settings_pools_admin.PATHS,
}
# Made of the same parts as another one, so that its colours need no look of their own.
COLOURED_LIKE_ANOTHER = {
    "/today",
    "/starred",
    "/later",
    "/history",
    "/folder/1",
    "/label/1",
    "/search",
    "/search?q=zeppelin+wheel",
    "/labels",
    "/starters",
    "/folders",
    "/feed/1/archive/reparse",
    "/feed/1/edit/preview",
    "/settings/sessions",
    "/filters/new",
    "/pools/new",
    "/admin/users/new",
    "/admin/users/1",
    "/admin/feeds/1/merge?into=2",
    "/admin/hosts/127.0.0.1",
    "/keys/edit",
    "/go",
    "/logout",
    "/offline",
    "/register",
    "/nowhere",
}
ERRORS = {"/nowhere": 404, "/register": 403, "/search?q=%22open&in=/feed/1": 422}


@pytest.fixture(scope="module", autouse=True)
def kept(site_server: SiteServer) -> None:
    """What the screens of this file show beyond feeds: a label, a bookmark, a kept search, a filter, a muted word."""

    async def keep() -> None:
        app, alice = site_server.site.app, await sample_feeds.find_user(site_server.site)
        label = await add_label(app.db, alice.id, "Wood & water 木と水")
        await apply_marks_to_entry(
            app.db, alice.id, 1, EntryMarks(add_labels=(label.id,), starred=True), datetime.now(UTC)
        )
        draft = FilterDraft("A filter with rather a long name", "wheel OR 水轮", actions=FilterActions(star=True))
        made = await create_filter(app.db, Caller(alice, alice.scopes), draft, datetime.now(UTC))
        await apply_backwards(app.db, alice.id, made.id, datetime.now(UTC))
        await mute(app.db, alice.id, FilterSubject("word", "zeppelin"), datetime.now(UTC))
        await save_search(app.db, alice.id, "Wheels", "wheel OR 水轮")
        await app.bookmarks.save(alice.id, "https://example.org/a-page-with-rather-a-long-address", None, "A note")

    site_server.do(keep())


@pytest.fixture
def asked(site_server: SiteServer) -> Callable[[Page], tuple[list[Response], list[str]]]:
    """Notes what a window is answered, and whom else it asks."""

    def note(page: Page) -> tuple[list[Response], list[str]]:
        answers: list[Response] = []
        others: list[str] = []

        def of_others(request: Request) -> None:
            if not request.url.startswith((site_server.origin, "data:")):
                others.append(request.url)

        page.on("response", lambda answer: answers.append(answer))
        page.on("request", of_others)
        return answers, others

    return note


def test_every_screen_is_for_everybody_fits_the_smallest_phone_and_asks_nobody_else(
    browser_user: BrowserUserMaker, asked: Any
) -> None:
    alice = browser_user(color_scheme="light")
    _, others = asked(alice.page)

    found = {}
    for path in PATHS:
        answer = alice.page.goto(path)
        assert answer is not None
        wrong = [] if path in SEEN_BY_AXE_ELSEWHERE else serious(alice.page)
        found[path] = (answer.status, wrong, alice.page.locator("h1").count(), width_on_the_smallest_phone(alice.page))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "script-src 'self';" in policy, path
        assert "unsafe" not in policy, path

    assert found == {path: (ERRORS.get(path, 200), [], 1, SMALLEST) for path in PATHS}
    assert others == []


@pytest.mark.parametrize("part", range(4))
def test_text_can_be_read_in_every_theme(browser_user: BrowserUserMaker, part: int) -> None:
    alice = browser_user(color_scheme="light")
    paths = [path for path in PATHS if path not in COLOURED_LIKE_ANOTHER]

    # The frame is the same on all of them.
    found = {"frame": unreadable(alice.page, THEMES, "body")}
    for path in paths[part::4]:
        alice.page.goto(path)
        found[path] = unreadable(alice.page, THEMES, "main")

    assert {path: wrong for path, wrong in found.items() if wrong} == {}
    assert len(paths) >= 30
    assert {"light", "dark", "sepia", "contrast"} <= set(THEMES)


def width_on_the_smallest_phone(page: Page) -> int:
    before = page.viewport_size
    assert before is not None
    page.set_viewport_size({"width": SMALLEST, "height": 640})
    width = int(page.evaluate("document.documentElement.scrollWidth"))
    page.set_viewport_size(before)
    return width


def test_all_scripts_of_a_page_together_stay_small(browser_user: BrowserUserMaker, asked: Any) -> None:
    alice = browser_user()
    answers, _ = asked(alice.page)

    alice.page.goto("/all")
    alice.page.wait_for_load_state("networkidle")

    scripts = [answer for answer in answers if answer.request.resource_type == "script"]
    assert {answer.url.rpartition("/")[2] for answer in scripts} == {"htmx.js", "app.js"}
    assert sum(int(answer.headers["content-length"]) for answer in scripts) < MOST_SCRIPT
