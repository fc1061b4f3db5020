"""Reading with the keyboard and the mouse, in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser import sample_feeds
from tests.browser.browser_user import BrowserUser
from tests.browser.page_timers import SERVERS_TOAST
from tests.browser.site_server import SiteServer

BrowserUserMaker = Callable[..., BrowserUser]


def test_j_and_k_open_articles_beside_the_list_and_mark_them_read(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    first, second = alice.titles()[:2]
    before = alice.unread()

    alice.press("j")
    alice.reads(first)
    with alice.page.expect_response("**/marks"):
        alice.press("j")
        alice.reads(second)
    assert "/item/" in alice.page.url
    expect(alice.page.locator("#count-unread")).to_have_text(str(before - 2))
    alice.press("k")
    alice.reads(first)

    alice.page.go_back()
    expect(alice.page.locator(".pane .article")).to_have_count(0)
    assert alice.page.url.endswith("/unread")
    assert alice.titles()[:2] == [first, second]
    assert alice.page.locator(".row.unread").count() == len(alice.titles()) - 2
    alice.page.reload()
    assert first not in alice.titles()


def test_escape_leaves_the_article_as_back_does_and_history_stays_short(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all")
    length = alice.page.evaluate("history.length")

    for _ in range(3):
        alice.press("j")
        alice.page.wait_for_selector(".pane .article")
        alice.page.get_by_role("link", name="Next", exact=True).click()
        alice.press("Escape")
        expect(alice.page.locator(".pane .article")).to_have_count(0)

    assert alice.page.url.endswith("/all")
    assert alice.page.evaluate("history.length") == length + 1
    assert alice.page.evaluate("document.activeElement.closest('.row') === document.querySelector('.row.current')")


def test_an_article_begins_at_its_top_after_another_was_left_in_its_middle(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440)
    pane = alice.page.locator(".pane")
    alice.press("j")
    expect(pane.locator(".article")).to_be_visible()
    pane.evaluate("(pane) => { pane.style.paddingBottom = '3000px'; pane.scrollTop = 900; }")

    alice.press("Escape")
    expect(pane.locator(".article")).to_have_count(0)
    alice.press("n", "o")
    expect(pane.locator(".article")).to_be_visible()

    assert pane.evaluate("(pane) => [pane.scrollHeight > 3000, pane.scrollTop]") == [True, 0]


def test_m_s_and_l_mark_the_article_and_the_server_knows(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    alice.press("j")
    title = alice.page.locator(".article h1").inner_text()
    with alice.page.expect_response("**/marks"):
        alice.press("s", "l", "m")
    expect(alice.page.locator(".pane .tool.star")).to_have_attribute("aria-pressed", "true")
    expect(alice.page.locator(".row.current.unread.starred.later")).to_have_count(1)

    alice.until("() => localStorage.length === 0")
    alice.press("g", "b")
    alice.page.wait_for_url("**/starred")
    assert title in alice.titles()
    alice.press("g", "l")
    alice.page.wait_for_url("**/later")
    assert title in alice.titles()
    alice.press("g", "u")
    alice.page.wait_for_url("**/unread")
    assert title in alice.titles()


def test_r_refreshes_from_an_articles_own_page_too(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/item/1?in=/feed/1")
    expect(alice.page.get_by_role("button", name="Refresh these feeds")).to_be_visible()

    for key, view in (("r", "view=%2Ffeed%2F1"), ("R", "view=&")):
        with alice.page.expect_request("**/refresh-all") as asked:
            alice.press(key)
        assert view in f"{asked.value.post_data}&"

    expect(alice.page.locator("#strip .strip")).to_be_visible()


def test_marks_made_without_a_connection_are_kept_and_sent_later(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    title = alice.titles()[0]
    alice.page.route("**/marks", lambda route: route.abort())
    alice.press("n")
    alice.press("m")
    expect(alice.page.locator(".toast")).to_contain_text("No connection")
    assert alice.page.evaluate("localStorage.length") == 1

    alice.page.unroute("**/marks")
    with alice.page.expect_response("**/marks"):
        alice.page.reload()

    alice.until("() => localStorage.length === 0")
    alice.page.reload()
    assert title not in alice.titles()


def test_a_request_without_an_answer_is_reported(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    alice.page.route("**/refresh-all", lambda route: route.abort())

    alice.press("R")

    expect(alice.page.locator(".toast")).to_have_text("That did not work. Try again.")


def test_several_are_picked_and_marked_together(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all")
    alice.press("n", "x", "n", "n", "X")
    expect(alice.page.locator(".bulk .chosen")).to_have_text("3 selected")

    alice.page.get_by_role("group", name="With selected").get_by_role("button", name="Star").click()

    for row in range(3):
        expect(alice.page.locator(".row").nth(row)).to_contain_class("starred")


def test_all_is_marked_read_and_taken_back(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(held=[SERVERS_TOAST])
    before = alice.titles()
    assert before

    alice.press("A")
    alice.page.locator("#mark-all").get_by_role("button", name="Mark all as read").click()
    expect(alice.page.get_by_role("heading", name="All caught up.")).to_be_visible()
    alice.page.get_by_role("button", name="Undo").click()

    expect(alice.page.locator(".row")).to_have_count(len(before))


def test_question_mark_lists_the_keys_and_escape_closes_them(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()

    alice.press("?")
    expect(alice.page.get_by_role("dialog")).to_contain_text("Open the next item")
    alice.press("Escape")

    expect(alice.page.get_by_role("dialog")).to_have_count(0)


def test_keys_are_off_where_one_types(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    alice.page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<input id=typed>')")

    alice.page.locator("#typed").press_sequentially("jsg?")

    assert alice.page.locator("#typed").input_value() == "jsg?"
    assert alice.page.url.endswith("/unread")
    expect(alice.page.get_by_role("dialog")).to_have_count(0)


def test_densities_and_theme_change_at_once_and_stay(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    alice.press("3")
    expect(alice.page.locator("#list")).to_have_attribute("data-density", "cards")

    alice.page.goto("/appearance")
    with alice.page.expect_response("**/appearance"):
        alice.page.get_by_role("radio", name="Sepia").check()
    expect(alice.page.locator("html")).to_have_attribute("data-theme", "sepia")
    alice.page.goto("/unread")

    expect(alice.page.locator("html")).to_have_attribute("data-theme", "sepia")
    expect(alice.page.locator("#list")).to_have_attribute("data-density", "cards")


def test_folders_fold_and_stay_folded(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    folder = alice.page.get_by_role("button", name="Show or hide the feeds of Craft")

    folder.click()
    expect(alice.page.get_by_role("link", name="磨坊笔记")).to_have_count(0)
    alice.page.reload()

    expect(folder).to_have_attribute("aria-expanded", "false")


def test_a_hostile_article_does_nothing(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all")

    alice.page.get_by_role("link", name="An article that tries everything").click()
    alice.reads("An article that tries everything")

    assert alice.page.evaluate("window.hacked") is None
    body = alice.page.locator(".pane .body")
    assert body.locator("script, iframe, form, button, style").count() == 0
    assert "hx-get" not in body.inner_html()
    expect(body).to_contain_text("After.")


def test_no_page_asks_another_site_for_anything(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    alice = browser_user()
    others: list[str] = []
    alice.page.on("request", lambda request: others.append(request.url))

    for path in ("/all", "/appearance", "/keys", "/starred"):
        alice.page.goto(path, wait_until="networkidle")
    alice.page.goto("/all")
    for title in ("Which stone turns", "Episode 41"):
        alice.page.get_by_role("link", name=title).click()
        alice.reads(title)
    alice.page.wait_for_load_state("networkidle")

    assert [url for url in others if not url.startswith((f"{site_server.origin}/", "data:"))] == []


def test_on_a_phone_the_views_are_in_a_drawer_and_articles_fill_the_screen(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(width=360, height=740)
    expect(alice.page.get_by_role("navigation")).to_be_hidden()
    alice.page.get_by_role("button", name="Open views and feeds").click()
    alice.page.get_by_role("link", name="All", exact=True).click()
    alice.page.wait_for_url("**/all")

    alice.page.locator(".row .title").first.click()
    expect(alice.page.locator(".pane .article")).to_be_visible()
    box = alice.page.locator(".pane").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (360, 740)
    alice.page.get_by_role("link", name="Back to the list").click()

    expect(alice.page.locator(".pane .article")).to_have_count(0)


def test_without_scripts_the_drawer_opens_all_the_same(visit: Callable[..., Page]) -> None:
    alice = BrowserUser(visit(width=360, height=740, java_script_enabled=False))
    alice.sign_in(sample_feeds.NAME, sample_feeds.PASSWORD)

    alice.page.get_by_role("button", name="Open views and feeds").click()
    alice.page.get_by_role("link", name="Starred").click()

    expect(alice.page).to_have_url(re.compile("/starred$"))


def test_without_scripts_one_reads_stars_and_marks_all(visit: Callable[..., Page]) -> None:
    alice = BrowserUser(visit(java_script_enabled=False))
    alice.sign_in(sample_feeds.NAME, sample_feeds.PASSWORD)
    alice.page.goto("/all")
    title = alice.titles()[3]

    alice.page.get_by_role("link", name=title).click()
    alice.reads(title)
    star = alice.page.get_by_role("toolbar").get_by_role("button", name="Star")
    if star.get_attribute("aria-pressed") == "true":  # by a test before this one
        star.click()
        expect(star).to_have_attribute("aria-pressed", "false")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    alice.page.locator(".article-menu > summary").click()
    alice.page.locator(".part.labels > summary").click()
    alice.page.locator(".part.labels").get_by_label("New label").fill("Reeds")
    alice.page.locator(".part.labels").get_by_role("button", name="Save").click()
    expect(alice.page.locator(".article .chip")).to_contain_text(["Reeds"])
    alice.page.get_by_role("link", name="Back to the list").click()
    alice.page.wait_for_url("**/all")
    alice.page.goto("/starred")

    assert title in alice.titles()


def test_a_label_is_put_on_without_leaving_the_list(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all")
    alice.press("j")
    alice.page.wait_for_selector(".pane .article")

    alice.press("t")
    alice.page.locator(".pane").get_by_label("New label").fill("水车")
    alice.press("Enter")
    expect(alice.page.locator(".pane .chip")).to_have_text("水车")
    alice.press("t")
    expect(alice.page.get_by_role("checkbox", name="水车")).to_be_checked()
    alice.page.get_by_role("checkbox", name="水车").uncheck()
    alice.page.locator(".part.labels").get_by_role("button", name="Save").click()

    expect(alice.page.locator(".pane .chip")).to_have_count(0)
    expect(alice.page.locator(".row").first).to_be_visible()
