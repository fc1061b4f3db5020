"""Lists of entries in a real browser: marks of many rows, news, reloading, the way on at the end."""

import re
from collections.abc import Callable
from itertools import count

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser import sample_feeds
from tests.browser.browser_user import NO_MARK_WAITS, BrowserUser
from tests.browser.page_timers import SERVERS_TOAST
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.browser.site_server import SiteServer
from tests.browser.test_touch import TouchInput, middle

BrowserUserMaker = Callable[..., BrowserUser]
FeedMaker = Callable[..., str]

ITEMS = re.compile(r"/item/\d+\?in=")
UNREAD_COUNT = ".sidebar a[href='{}'] .count"
# Whether the offer of news is in front of a row, and not of the bar.
IN_THE_WAY = """() => {
  const { x, y, width, height } = document.querySelector(".news").getBoundingClientRect();
  const under = document.elementsFromPoint(x + width / 2, y + height / 2).find((each) => each.matches(".row, .bar"));
  return !under.matches(".bar");
}"""
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
        alice.press("n", "m", "n")
        alice.press_until_sent("m")
        alice.press("p")
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
    # Keys do something only when the scripts of the new page are there.
    alice.page.wait_for_load_state("load")
    alice.press("u")

    expect(alice.page.locator(".toast")).to_have_text("Undone.")
    label = alice.page.locator(".sidebar a[href^='/label/']", has_text="Mills")
    alice.page.goto(str(label.get_attribute("href")))
    expect(alice.page.get_by_role("heading", name="No item has this label")).to_be_visible()


def news(alice: BrowserUser) -> Locator:
    return alice.page.locator(".news")


@pytest.mark.parametrize("width", [390, 1440])
def test_what_arrives_meanwhile_is_offered_exactly_and_nothing_jumps(
    browser_user: BrowserUserMaker, site_server: SiteServer, new_feed: FeedMaker, width: int
) -> None:
    new_feed(30)
    alice = browser_user(at="about:blank", width=width, height=700)
    alice.page.add_init_script("document.addEventListener('counts', () => { window.counted = true; })")
    alice.page.goto("/unread")
    alice.until("() => window.counted")
    before = alice.titles()
    new_feed(2)

    # Marks of one's own in the same answer change nothing of it.
    alice.press("n", "m", "n", "m", "n", "m")
    expect(news(alice)).to_have_text("2 new, show")
    assert alice.titles() == before
    alice.page.evaluate("scrollTo(0, 400)")
    expect(news(alice)).to_be_in_viewport()
    assert not alice.page.evaluate(IN_THE_WAY)
    news(alice).click()

    expect(alice.page.locator(".row .title", has_text="Piece 1 of")).not_to_have_count(0)
    expect(news(alice)).to_be_hidden()


def test_reading_on_is_no_news_even_if_the_counts_are_late(browser_user: BrowserUserMaker, new_feed: FeedMaker) -> None:
    path = new_feed(8)
    alice = browser_user(at=path)
    late = alice.page.evaluate("async () => (await fetch('/counts')).json()")
    with alice.page.expect_response("**/marks"):
        for place in range(1, 6):
            alice.press("j")
            alice.reads(f"Piece {place} of")
    alice.until(NO_MARK_WAITS)

    # Counts from before the marks arrive after them.
    with alice.page.expect_response("**/news?**"):
        alice.page.evaluate("(late) => document.dispatchEvent(new CustomEvent('counts', { detail: late }))", late)

    expect(news(alice)).to_be_hidden()


def test_a_reload_shows_the_list_and_the_article_again(browser_user: BrowserUserMaker, new_feed: FeedMaker) -> None:
    path = new_feed(40)
    alice = browser_user(at=f"{path}?order=oldest", width=1440)
    for _ in range(3):
        alice.press("j")
        alice.page.locator(".row.current.opened:not(.unread)").wait_for()
    title = alice.page.locator(".article h1").inner_text()
    alice.until(NO_MARK_WAITS)

    alice.page.reload()
    alice.reads(title)
    expect(alice.page.locator(".row.current.opened .title")).to_have_text(title)
    expect(alice.page.locator("h1")).to_have_count(1)
    following = alice.titles()[alice.titles().index(title) + 1]
    href = alice.page.locator(".row.current ~ .row .title").first.get_attribute("href")
    alice.press("j")
    alice.reads(following)
    expect(alice.page).to_have_url(str(href))

    alice.page.goto("/keys")
    alice.page.go_back()
    alice.reads(following)
    expect(alice.page.locator(".row.current .title")).to_have_text(following)
    alice.press("Escape")
    expect(alice.page.locator(".pane .article")).to_have_count(0)
    expect(alice.page).to_have_url(re.compile(f"{path}(\\?order=oldest)?$"))
    assert alice.page.title().partition(") ")[2].startswith("Made")


def test_a_link_of_ones_own_opens_the_list_where_the_article_is(
    browser_user: BrowserUserMaker, new_feed: FeedMaker
) -> None:
    path = new_feed(70)
    alice = browser_user(at=path)
    alice.page.locator(".more").scroll_into_view_if_needed()
    deep = alice.page.locator(".row .title").nth(45)
    title, href = str(deep.text_content()).strip(), deep.get_attribute("href")

    alice.page.goto(str(href))
    alice.reads(title)
    expect(alice.page.locator(".row.current .title")).to_have_text(title)
    expect(alice.page.locator(".row.current")).to_be_in_viewport()
    expect(alice.page.get_by_role("link", name="Back to the top")).to_have_attribute("href", re.compile(path))
    alice.press("Escape")

    expect(alice.page.locator(".pane .article")).to_have_count(0)
    expect(alice.page).to_have_url(path)
    alice.press("j")
    expect(alice.page.locator(".row.current .title")).not_to_have_text(title)


def test_a_reloaded_article_fills_a_phone_and_back_is_its_list(
    browser_user: BrowserUserMaker, new_feed: FeedMaker
) -> None:
    path = new_feed(5)
    alice = browser_user(at=path, width=390, height=800, has_touch=True, is_mobile=True)
    alice.page.locator(".row .title").nth(2).tap()
    alice.reads("Piece 3 of")
    alice.until(NO_MARK_WAITS)

    alice.page.reload()
    alice.reads("Piece 3 of")
    box = alice.page.locator(".pane").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (390, 800)
    alice.page.get_by_role("link", name="Back to the list").tap()

    expect(alice.page.locator(".pane .article")).to_have_count(0)
    expect(alice.page.locator(".row")).to_have_count(5)
    expect(alice.page).to_have_url(path)


def test_the_next_article_is_there_before_it_is_asked_for(browser_user: BrowserUserMaker, new_feed: FeedMaker) -> None:
    path = new_feed(6)
    alice = browser_user(at="about:blank")
    with alice.page.expect_response(ITEMS):
        alice.page.goto(path)
    held: list[Route] = []
    alice.page.route(ITEMS, lambda route: held.append(route))

    for title in alice.titles()[:3]:
        # Nothing that is asked for from now on arrives, as from a server that is far away.
        with alice.page.expect_request(ITEMS):
            alice.press("j")
        alice.reads(title)
        following = alice.page.locator(".row.current ~ .row").first
        following.locator("button.star").evaluate("(button) => button.click()")
        with alice.page.expect_response(ITEMS):
            held.pop().continue_()

    # It was starred after it was fetched.
    alice.press("j")
    alice.reads("Piece 4 of")
    expect(alice.page.locator(".article-bar button.star")).to_have_attribute("aria-pressed", "true")
    assert alice.page.locator(".row").first.evaluate("(row) => getComputedStyle(row).contentVisibility") == "auto"


def test_j_goes_on_into_the_next_feed_with_unread(browser_user: BrowserUserMaker, new_feed: FeedMaker) -> None:
    path, _, onward = (
        new_feed(55, "Onward", "A first"),
        new_feed(0, "Onward", "B empty"),
        new_feed(1, "Onward", "C last"),
    )
    alice = browser_user(at=path)
    expect(alice.page.locator("#main .onward")).to_be_hidden()
    alice.page.locator(".more").scroll_into_view_if_needed()
    alice.page.locator(".row .title").nth(48).click()
    alice.reads("Piece 49 of")
    while alice.page.locator(".more").count() or alice.page.locator(".row.current ~ .row").count():
        before = alice.page.locator(".article h1").inner_text()
        alice.press("j")
        expect(alice.page.locator(".article h1")).not_to_have_text(before)
    alice.reads("Piece 55 of")

    alice.press("j")
    expect(alice.page.locator("#main .onward a")).to_be_focused()
    expect(alice.page.locator("#main .onward a")).to_contain_text("Next: C last")
    alice.press("j")

    alice.page.wait_for_url(f"**{onward}")
    alice.press("j")
    alice.reads("Piece 1 of")


def test_a_finger_goes_on_below_the_last_article(browser_user: BrowserUserMaker, new_feed: FeedMaker) -> None:
    path, onward = new_feed(2, "Fingers", "A first"), new_feed(1, "Fingers", "B last")
    alice = browser_user(at=path, width=390, height=800, has_touch=True, is_mobile=True)
    alice.page.locator(".row .title").last.tap()
    alice.reads("Piece 2 of")

    alice.page.locator(".pane .onward a").tap()

    alice.page.wait_for_url(f"**{onward}")
    expect(alice.page.locator(".row")).to_have_count(1)


# --- how rows look ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("locale", ["en", "zh-CN"])
def test_a_long_chinese_title_takes_one_line_of_a_compact_list(
    browser_user: BrowserUserMaker, site_server: SiteServer, locale: str
) -> None:
    title = "水闸与磨坊的故事，" * 30
    alice_user = site_server.do(sample_feeds.find_user(site_server.site))
    feed = SampleFeed(f"/long-{locale}.xml", "长标题", [SampleEntry(title, hours=0)], language="zh-CN")
    feed_id = site_server.do(sample_feeds.subscribe_to(site_server.site, alice_user, feed))
    alice = browser_user(at=f"/feed/{feed_id}?show=all", width=1440, locale=locale)

    row = alice.page.locator(".row", has_text="水闸与磨坊").bounding_box()

    assert row is not None
    assert row["height"] < 48
