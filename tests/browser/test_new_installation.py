"""From `feedmill serve` in an empty folder to reading in a browser."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.browser_user import BrowserUser
from tests.browser.conftest import PATIENCE
from tests.browser.page_timers import hold_timers
from tests.browser.sample_feeds import CHINESE, PASSWORD, PROSE, SampleEntry, SampleFeed, as_rss
from tests.browser.web_in_thread import web_in_thread
from tests.cli.command import serving
from tests.scripted_web import Answer, Web

RSS = {"Content-Type": "application/rss+xml"}
HTML = {"Content-Type": "text/html"}
SLOWLY = 120_000
ENTRIES = [
    SampleEntry("清晨的水闸：一座老磨坊的一天", CHINESE, 1),
    SampleEntry("Which stone turns", PROSE, 2),
    SampleEntry("Flood marks", PROSE, 3),
]
FRONT = b'<title>A mill</title><link rel=alternate type="application/rss+xml" href="/mill.xml">'


@dataclass(frozen=True)
class NewInstallation:
    """`feedmill serve` on an empty folder, and the web that it can reach."""

    address: str
    folder: Path
    web: Web

    def publish(self, path: str, title: str, entries: list[SampleEntry]) -> str:
        linked = [
            SampleEntry(each.title, each.html, each.hours, link=self.web.url(f"{path}/{n}"))
            for n, each in enumerate(entries)
        ]
        return self.web.serve(path, Answer(as_rss(SampleFeed(path, title, linked)), headers=RSS))

    def lose(self, title: str) -> None:
        """An entry is gone from the database, as if it had never been written."""
        with closing(sqlite3.connect(self.folder / "data" / "feedmill.db", timeout=30)) as db, db:
            [[id]] = db.execute("SELECT id FROM entries WHERE title = ?", [title])
            db.execute("DELETE FROM unread WHERE entry_id = ?", [id])
            db.execute("DELETE FROM entries WHERE id = ?", [id])


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[NewInstallation]:
    settings = {"allow_private": "127.0.0.0/8", "host_gap": "0"}
    with web_in_thread() as web, serving(cwd=tmp_path, settings=settings) as server:
        installation = NewInstallation(server.address, tmp_path, web)
        web.serve("/", Answer(FRONT, headers=HTML))
        installation.publish("/mill.xml", "The Old Mill", ENTRIES)
        yield installation


@pytest.fixture
def arrive(chromium_service: Any, installation: NewInstallation) -> Iterator[Callable[..., Page]]:
    """Opens windows in which no script fails, no policy is broken, and nothing but the installation is requested."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def open_window(width: int = 1280, **options: Any) -> Page:
        size = {"width": width, "height": 800}
        context = chromium_service.browser.new_context(viewport=size, base_url=installation.address, **options)
        context.set_default_timeout(PATIENCE)
        hold_timers(context)
        contexts.append(context)
        page: Page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
        page.on(
            "request", lambda asked: None if asked.url.startswith(installation.address) else wrong.append(asked.url)
        )
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert wrong == []


def test_from_an_empty_folder_to_reading_and_back_from_the_archive(
    installation: NewInstallation, arrive: Callable[..., Page]
) -> None:
    reader = BrowserUser(arrive())
    set_up_and_be_told(reader.page)
    add_by_the_address_of_a_page(reader.page, installation)
    read_with_the_keyboard(reader, installation)
    refresh_in_two_windows(reader, installation)
    search_a_chinese_word(reader.page)
    import_two_hundred_feeds(reader.page, installation)
    find_out_why_a_feed_is_broken(reader.page, installation)
    restore_what_was_lost(reader.page, installation)


def test_without_scripts_everything_is_links_and_forms(
    installation: NewInstallation, arrive: Callable[..., Page]
) -> None:
    page = arrive(java_script_enabled=False)
    set_up(page)
    page.get_by_label("Address", exact=True).fill(installation.web.url("/"))
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".offer")).to_contain_text("The Old Mill")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".added-rows")).to_contain_text("3 items")
    page.get_by_role("link", name="Start reading").click()

    page.get_by_role("link", name="Which stone turns").click()
    expect(page.locator(".article h1")).to_have_text("Which stone turns")
    star = page.locator(".article-bar").get_by_role("button", name="Star")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    page.goto("/starred")
    expect(page.locator(".row .title")).to_have_text(["Which stone turns"])

    installation.publish("/mill.xml", "The Old Mill", [*ENTRIES, SampleEntry("The sluice is open", PROSE, 0.1)])
    page.get_by_role("button", name="Refresh all feeds").first.click()
    expect(page.locator('.job[data-status="done"] .standing')).to_have_text("1 of 1 feeds · 1 new · 0 failed")
    page.get_by_role("link", name="Search").first.click()
    page.get_by_label("Search for").fill("水闸")
    page.locator("main").get_by_role("button", name="Search").click()
    expect(page.locator(".row .title mark")).to_have_text("水闸")


def test_the_keyboard_alone_leads_everywhere(installation: NewInstallation, arrive: Callable[..., Page]) -> None:
    reader = BrowserUser(arrive())
    page = reader.page
    page.goto("/")
    expect(page.get_by_label("Name")).to_be_focused()
    for word in ("alice", PASSWORD, PASSWORD):
        page.keyboard.type(word)
        reader.press("Tab")
    reader.press("Enter")
    page.wait_for_url("**/subscribe")
    expect(page.get_by_label("Address", exact=True)).to_be_focused()
    page.keyboard.type(installation.web.url("/"))
    reader.press("Enter")
    expect(page.locator(".offer")).to_contain_text("The Old Mill")
    tab_to(page, "Add")
    reader.press("Enter")
    expect(page.locator(".added-rows")).to_contain_text("3 items")

    reader.press("g", "u")
    page.wait_for_url("**/unread")
    tab_to(page, "Which stone turns")
    reader.press("Enter")
    reader.reads("Which stone turns")
    tab_to(page, "Star")
    reader.press("Enter")
    expect(page.locator(".row.starred")).to_have_count(1)
    reader.press("Escape")
    expect(page.get_by_role("link", name="Which stone turns")).to_be_focused()


def tab_to(page: Page, words: str) -> None:
    """Presses Tab until something of these words has the focus; what has it can be seen."""
    for _ in range(80):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "(() => { const a = document.activeElement, s = getComputedStyle(a), l = getComputedStyle(a, '::after');"
            " return [a.textContent.trim(), s.outlineStyle !== 'none' || l.outlineStyle !== 'none'] })()"
        )
        if focused[0] == words:
            assert focused[1], f"{words} has the focus and does not show it"
            return
    raise AssertionError(f"Tab does not lead to {words}")


def test_on_the_smallest_phone_nothing_is_lost_at_the_side(
    installation: NewInstallation, arrive: Callable[..., Page]
) -> None:
    page = arrive(width=320, has_touch=True, is_mobile=True)
    set_up(page)
    add_by_the_address_of_a_page(page, installation)
    page.get_by_role("button", name="Open views and feeds").click()
    page.locator(".sidebar").get_by_role("link", name="Unread").click()
    page.wait_for_url("**/unread")
    page.get_by_role("link", name="Which stone turns").click()
    expect(page.locator(".article h1")).to_have_text("Which stone turns")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.go_back()
    expect(page.locator(".row")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def set_up_and_be_told(page: Page) -> None:
    """The button says what goes on; nothing is ticked for the reader afterwards."""
    fill_in_set_up(page)
    page.evaluate("document.addEventListener('submit', (event) => event.preventDefault())")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("button", name="Creating the account …")).to_be_disabled()
    set_up(page)
    expect(page.locator(".starters input")).to_have_count(12)
    expect(page.locator(".starters input:checked")).to_have_count(0)


def set_up(page: Page) -> None:
    fill_in_set_up(page)
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url("**/subscribe")


def fill_in_set_up(page: Page) -> None:
    page.goto("/")
    page.wait_for_url("**/setup")
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)


def add_by_the_address_of_a_page(page: Page, installation: NewInstallation) -> None:
    page.evaluate("window.isTheSamePage = true")
    page.get_by_label("Address", exact=True).fill(installation.web.url("/"))
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".offer")).to_contain_text("The Old Mill")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".added-rows")).to_contain_text("3 items")
    assert page.evaluate("window.isTheSamePage") is True
    page.get_by_role("link", name="Start reading").click()
    page.wait_for_url("**/feed/1")
    expect(page.locator(".row")).to_have_count(3)


def read_with_the_keyboard(reader: BrowserUser, installation: NewInstallation) -> None:
    page = reader.page
    reader.press("j")
    reader.reads(ENTRIES[0].title)
    reader.press("j")
    reader.reads("Which stone turns")
    reader.press("k")
    reader.reads(ENTRIES[0].title)
    expect(page.locator("#count-unread")).to_have_text("1")
    reader.press("m")
    expect(page.locator("#count-unread")).to_have_text("2")
    reader.press_until_sent("s")
    installation.web.serve("/mill.xml/0", Answer(b"<h1>The original</h1>", headers=HTML))
    with page.context.expect_page() as opened:
        reader.press("v")
    expect(opened.value.get_by_role("heading")).to_have_text("The original")
    opened.value.close()
    page.goto("/starred")
    assert reader.titles() == [ENTRIES[0].title]


def refresh_in_two_windows(reader: BrowserUser, installation: NewInstallation) -> None:
    installation.publish("/mill.xml", "The Old Mill", [*ENTRIES, SampleEntry("The sluice is open", PROSE, 0.1)])
    other = reader.page.context.new_page()
    other.goto("/unread")
    reader.page.goto("/unread")
    reader.page.bring_to_front()
    reader.press("R")
    for page in (reader.page, other):
        expect(page.locator('.strip[data-status="done"] .standing')).to_have_text("1 of 1 feeds · 1 new · 0 failed")
        expect(page.locator("#count-unread")).to_have_text("3")
    other.close()
    reader.page.reload()
    assert "The sluice is open" in reader.titles()


def search_a_chinese_word(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_label("Search for")).to_be_focused()
    page.keyboard.type("水闸")
    page.keyboard.press("Enter")
    expect(page.locator(".row .title")).to_have_text([ENTRIES[0].title])
    expect(page.locator(".row .title mark")).to_have_text("水闸")


def import_two_hundred_feeds(page: Page, installation: NewInstallation) -> None:
    urls = [
        installation.publish(f"/many/{n}.xml", f"Many {n}", [SampleEntry(f"Piece {n}", hours=50)]) for n in range(200)
    ]
    lines = "".join(f'<outline type="rss" text="Many" xmlUrl="{url}"/>' for url in urls)
    opml = f'<opml version="2.0"><body><outline text="Imported">{lines}</outline></body></opml>'
    page.goto("/import")
    page.locator("#f-file").set_input_files({"name": "a.opml", "mimeType": "text/xml", "buffer": opml.encode()})
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import 200 feeds").click()
    expect(page.locator(".job progress")).to_be_visible()
    expect(page.locator('.job[data-status="done"] .standing')).to_have_text(
        "200 of 200 feeds · 200 new · 0 failed", timeout=SLOWLY
    )
    expect(page.locator(".sidebar")).to_contain_text("Imported")


def find_out_why_a_feed_is_broken(page: Page, installation: NewInstallation) -> None:
    installation.web.serve("/mill.xml", Answer(b"gone fishing", 404))
    page.goto("/feed/1")
    page.get_by_role("button", name="Refresh these feeds").first.click()
    expect(page.locator(".strip .standing")).to_contain_text("1 failed")
    page.goto("/feed/1/health")
    expect(page.locator("main")).to_contain_text("The feed is not at this address (404)")
    expect(page.locator("main")).to_contain_text("Its server answers, but has nothing at this address.")
    installation.publish("/mill.xml", "The Old Mill", ENTRIES)


def restore_what_was_lost(page: Page, installation: NewInstallation) -> None:
    installation.lose("Flood marks")
    page.goto("/feed/1/archive")
    page.locator("main").get_by_role("link", name="Parse raw bodies again").click()
    expect(page.locator(".verdict")).to_contain_text("add 1 items and change 0")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".toast")).to_contain_text("1 items added")
    page.goto("/feed/1?show=all")
    expect(page.locator("#list")).to_contain_text("Flood marks")
