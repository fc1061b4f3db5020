"""Lists of entries in a real browser: marks of many rows, news, reloading, the way on at the end."""

from collections.abc import Callable
from itertools import count

import pytest
from playwright.sync_api import expect

from tests.browser import sample_feeds
from tests.browser.browser_user import BrowserUser
from tests.browser.page_timers import SERVERS_TOAST
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.browser.site_server import SiteServer
from tests.browser.test_touch import TouchInput, middle

BrowserUserMaker = Callable[..., BrowserUser]
FeedMaker = Callable[..., str]

UNREAD_COUNT = ".sidebar a[href='{}'] .count"
_numbers = count(1)


@pytest.fixture
def new_feed(site_server: SiteServer) -> FeedMaker:
    """Subscribes Alice to a feed of that many entries, each an hour older than the one before; its path."""

    def subscribe(entries: int, folder: str = "", title: str = "") -> str:
        number = next(_numbers)
        pieces = [SampleEntry(f"Piece {place} of {number}", hours=place) for place in range(1, entries + 1)]
        feed = SampleFeed(f"/made-{number}.xml", title or f"Made {number}", pieces, folder)
        alice = site_server.do(sample_feeds.find_user(site_server.site))
        return f"/feed/{site_server.do(sample_feeds.subscribe_to(site_server.site, alice, feed))}"

    return subscribe


def test_b_and_y_mark_all_of_the_view_and_are_undone(browser_user: BrowserUserMaker, new_feed: FeedMaker) -> None:
    path = new_feed(120)
    alice = browser_user(at=path, held=[SERVERS_TOAST])
    unread = alice.page.locator(UNREAD_COUNT.format(path))
    rows, toast = alice.page.locator(".row"), alice.page.locator(".toast")
    assert rows.count() < 120

    alice.press("n", "n", "n", "B")
    expect(toast).to_contain_text("117 items marked as read.")
    expect(unread).to_have_text("3")
    expect(alice.page.locator(".row.unread")).to_have_count(3)
    alice.press("u")
    expect(toast).to_have_text("Undone.")
    expect(unread).to_have_text("120")
    expect(alice.page.locator(".row:not(.unread)")).to_have_count(0)

    alice.press("Y")
    expect(toast).to_contain_text("2 items marked as read.")
    alice.page.get_by_role("button", name="Undo").click()
    expect(unread).to_have_text("120")
    alice.press("B")
    expect(toast).to_contain_text("117 items marked as read.")
    alice.page.goto(f"{path}?show=unread&order=oldest")
    assert alice.titles() == [f"Piece {place} of {path_number(alice)}" for place in (3, 2, 1)]


def path_number(alice: BrowserUser) -> str:
    return alice.titles()[0].rpartition(" ")[2]


def test_a_finger_marks_what_is_below_a_row_and_takes_it_back(
    browser_user: BrowserUserMaker, new_feed: FeedMaker
) -> None:
    path = new_feed(60)
    alice = browser_user(at=path, width=390, height=800, has_touch=True, is_mobile=True, held=[SERVERS_TOAST])
    touch = TouchInput(alice.page.context.new_cdp_session(alice.page))
    row = alice.page.locator(".row").nth(1)

    touch.down(*middle(row))
    menu = alice.page.get_by_role("dialog")
    expect(menu).to_be_visible()
    touch.up()
    menu.get_by_role("button", name="Mark all below as read").tap()
    expect(alice.page.locator(".toast")).to_contain_text("58 items marked as read.")
    expect(alice.page.locator(".row.unread")).to_have_count(2)
    alice.page.get_by_role("button", name="Undo").tap()

    expect(alice.page.locator(".toast")).to_have_text("Undone.")
    expect(alice.page.locator(".row:not(.unread)")).to_have_count(0)


@pytest.mark.parametrize(
    ("button", "mark"),
    [("Read", ":not(.unread)"), ("Unread", ".unread"), ("Star", ".starred"), ("Read later", ".later")],
)
def test_what_was_done_with_a_selection_is_undone(
    browser_user: BrowserUserMaker, new_feed: FeedMaker, button: str, mark: str
) -> None:
    path = new_feed(4)
    alice = browser_user(at=f"{path}?show=all", held=[SERVERS_TOAST])
    if button == "Unread":
        alice.press("n", "m", "n", "m", "p")
        alice.page.locator(".row.unread").nth(1).wait_for()
    marked = alice.page.locator(f".row{mark}")
    before = marked.count()

    alice.press("n", "x", "n", "X")
    alice.page.locator(".bulk").get_by_role("button", name=button, exact=True).click()
    expect(alice.page.locator(".toast").get_by_role("button", name="Undo")).to_be_visible()
    expect(alice.page.locator(".row:has(.pick:checked)")).to_have_count(0)
    assert marked.count() > before
    alice.press("u")

    expect(alice.page.locator(".toast")).to_have_text("Undone.")
    expect(marked).to_have_count(before)
    alice.page.reload()
    expect(marked).to_have_count(before)


def test_a_label_of_a_selection_is_undone_by_its_key(browser_user: BrowserUserMaker, new_feed: FeedMaker) -> None:
    alice = browser_user(at=new_feed(3), held=[SERVERS_TOAST])
    alice.press("n", "x", "n", "X")

    alice.page.locator(".bulk .menu summary").click()
    alice.page.locator(".bulk").get_by_label("New label").fill("Mills")
    alice.press("Enter")
    expect(alice.page.locator(".toast")).to_contain_text("2 items were labelled.")
    alice.press("u")

    expect(alice.page.locator(".toast")).to_have_text("Undone.")
    alice.page.get_by_role("link", name="Mills").click()
    expect(alice.page.get_by_role("heading", name="No item has this label")).to_be_visible()
