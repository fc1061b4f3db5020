"""In a real browser no article runs a script or calls home: sanitised without a policy, and raw with the pages' one."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Error, Page, Request, Route

from feedmill.html.sanitize import sanitize_html
from feedmill.serve.http.security_headers import STRICT_HEADERS
from tests.html.script_vectors import all_vectors
from tests.waiting import LONGEST_WAIT

VECTORS = dict(all_vectors())
# What only the sanitiser stops: no policy keeps a page from leading elsewhere, nor from prefetching what it may play.
LEADS_AWAY = {"call-meta-refresh", "call-link-prefetch"}
OWN = "http://reader.test/"
PAGE = f"{OWN}item/1"
FRAME = "<!doctype html><meta charset=utf-8><title>x</title><div id=article>{article}</div>"
LISTENER = "window.hits=0;window.hit=()=>{window.hits++}"
# Presses whatever is there, but follows no ordinary link.
PRESS = """() => {
  for (const one of document.querySelectorAll('#article *')) {
    const href = one.href && one.href.baseVal !== undefined ? one.href.baseVal : one.href || '';
    if (/^https?:/i.test(href)) continue;
    one.focus && one.focus();
    one.click ? one.click() : one.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  }
}"""


class Reader:
    """A browser's tab that shows articles, and notes what they do."""

    def __init__(self, context: BrowserContext, policy: str | None = None) -> None:
        self.context, self.policy = context, policy
        self.article = ""
        self.asked: list[str] = []
        self.page = self._new_page()

    def show(self, article: str) -> tuple[int, list[str]]:
        """How often a script ran, also after everything was pressed, and what was asked for."""
        self.article, self.asked = article, []
        try:
            self.page.goto(PAGE, wait_until="load")
            self.page.evaluate(PRESS)
            self.page.wait_for_timeout(5)
            return int(self.page.evaluate("window.hits")), self.asked
        except Error:  # It went elsewhere while we looked, and may still be on its way.
            self.start_anew()
            return 0, self.asked or ["elsewhere"]

    def start_anew(self) -> None:
        """Goes on in a new tab: what the old one has still to do is not taken for the next article's."""
        self.page.close()
        self.page = self._new_page()

    def _new_page(self) -> Page:
        page = self.context.new_page()
        page.add_init_script(LISTENER)
        page.route("**/*", self._answer)
        return page

    def _answer(self, route: Route, request: Request) -> None:
        if request.url == PAGE and request.is_navigation_request():
            policy = {"content-security-policy": self.policy} if self.policy else {}
            body = FRAME.format(article=self.article)
            route.fulfill(body=body, headers={"content-type": "text/html; charset=utf-8"} | policy)
            return
        if not request.url.endswith("/favicon.ico") and not (self.policy and request.url.startswith(OWN)):
            self.asked.append(request.url)
        route.abort()


@pytest.fixture
def context(chromium_service: Any) -> Iterator[BrowserContext]:
    context = chromium_service.browser.new_context()
    context.set_default_timeout(LONGEST_WAIT * 1000)
    yield context
    context.close()


def test_there_are_enough_of_them() -> None:
    assert len(VECTORS) >= 150


def test_sanitised_no_article_runs_or_asks_for_anything(context: BrowserContext) -> None:
    reader = Reader(context)

    for name, html in VECTORS.items():
        assert reader.show(sanitize_html(html, "http://evil.test/page")) == (0, []), name


def test_unsanitised_and_without_a_policy_they_do_work(context: BrowserContext) -> None:
    """Else the others would show nothing."""
    reader = Reader(context)

    working = [name for name, html in VECTORS.items() if reader.show(html) != (0, [])]

    assert len(working) > 100, sorted(set(VECTORS) - set(working))


def test_even_unsanitised_the_policy_of_the_pages_stops_them(context: BrowserContext) -> None:
    reader = Reader(context, STRICT_HEADERS["Content-Security-Policy"])

    stopped = {}
    for name, html in VECTORS.items():
        stopped[name] = reader.show(html)
        if name in LEADS_AWAY:
            reader.start_anew()

    assert {name for name, seen in stopped.items() if seen != (0, [])} <= LEADS_AWAY
    assert all(hits == 0 for hits, _ in stopped.values())
