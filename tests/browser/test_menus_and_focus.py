"""Menus and dialogs have the keyboard for themselves while they are open, and give the focus back."""

from collections.abc import Callable
from string import ascii_letters, digits

import pytest
from playwright.sync_api import Locator, Request, Route, expect

from tests.browser.browser_user import NO_MARK_WAITS, BrowserUser

BrowserUserMaker = Callable[..., BrowserUser]

EVERY_LETTER = ascii_letters + digits + "/?#+"
SAME_FOCUS = "() => document.activeElement === window.focusedBefore"


def changes(alice: BrowserUser) -> list[str]:
    """The requests of the page that change something or leave the page, from now on."""
    seen: list[str] = []

    def note(request: Request) -> None:
        if request.method != "GET" or request.is_navigation_request():
            seen.append(f"{request.method} {request.url}")

    alice.page.on("request", note)
    return seen


def rows_of(alice: BrowserUser) -> object:
    return alice.page.evaluate("() => [...document.querySelectorAll('.row')].map((row) => row.className)")


def type_the_alphabet(alice: BrowserUser) -> None:
    alice.page.keyboard.type(EVERY_LETTER)


def open_article(alice: BrowserUser) -> None:
    """Opens the first article, and waits until the server knows that it is read."""
    alice.press("j")
    expect(alice.page.locator(".pane .article")).to_be_visible()
    expect(alice.page.locator(".row.current.unread")).to_have_count(0)
    alice.until(NO_MARK_WAITS)


@pytest.mark.parametrize("keys", [("t",), ("q",), ("A",), ("?",), ("+",), ("g", "o"), ("Control+k",)])
def test_what_a_key_opens_takes_every_letter_and_gives_the_focus_back(
    browser_user: BrowserUserMaker, keys: tuple[str, ...]
) -> None:
    alice = browser_user(at="/all", width=1440)
    open_article(alice)
    alice.page.evaluate("() => { window.focusedBefore = document.activeElement; }")
    rows, seen = rows_of(alice), changes(alice)

    alice.press(*keys)
    type_the_alphabet(alice)
    expect(alice.page.locator("dialog[open], .menu[open]")).to_have_count(1)
    type_the_alphabet(alice)
    if "o" in keys or "Control+k" in keys:
        alice.press("Escape")  # This one empties the field.
    alice.press("Escape")

    expect(alice.page.locator("dialog[open], .menu[open]")).to_have_count(0)
    expect(alice.page.locator(".pane .article")).to_be_visible()
    alice.until(SAME_FOCUS)
    assert (rows_of(alice), seen) == (rows, [])


@pytest.mark.parametrize("width", [390, 900, 1440])
def test_every_menu_of_a_page_takes_every_letter(browser_user: BrowserUserMaker, width: int) -> None:
    alice = browser_user(at="/feed/1?show=all", width=width)
    open_article(alice)
    alice.press("x")
    menus = alice.page.locator(".menu")
    reached = 0
    rows, seen = rows_of(alice), changes(alice)

    for each in (menus.nth(place) for place in range(menus.count())):
        if each.locator("> summary").is_visible():
            reached += 1
            type_into(alice, each)

    assert reached >= 3
    assert (rows_of(alice), seen) == (rows, [])


def type_into(alice: BrowserUser, menu: Locator) -> None:
    summary = menu.locator("> summary")
    summary.press("Enter")
    expect(menu).to_have_attribute("open", "")
    expect(menu.locator(".sheet :focus")).to_have_count(1)
    type_the_alphabet(alice)
    alice.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(summary).to_be_focused()


def test_a_label_is_typed_right_after_its_key(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all")
    open_article(alice)

    alice.press("t")
    alice.page.keyboard.type("Books")
    alice.press("Enter")

    expect(alice.page.locator(".pane .chip")).to_have_text("Books")
    title = alice.page.locator(".article h1").inner_text()
    alice.press("j")
    expect(alice.page.locator(".article h1")).not_to_have_text(title)


def test_enter_chooses_in_the_menu_and_arrows_move_in_it(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/feed/2?show=all")
    open_article(alice)

    alice.press("A", "ArrowDown", "ArrowDown", "ArrowUp")
    expect(alice.page.locator("#mark-all :focus")).to_have_text("Mark items older than a day as read")
    alice.press("ArrowUp")
    with alice.page.expect_request("**/mark-all-read") as asked:
        alice.press("Enter")

    assert "age=&" in f"{asked.value.post_data}&"


def test_the_menu_of_an_article_is_used_by_keyboard(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=1440)
    alice.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    alice.page.context.route("https://example.org/**", lambda route: route.fulfill(body="the original"))
    alice.page.evaluate("() => { Object.defineProperty(navigator, 'share', { value: undefined }); }")
    open_article(alice)
    title = alice.page.locator(".article h1")
    first = title.inner_text()
    alice.press("j")
    expect(title).not_to_have_text(first)
    words, link = title.inner_text(), alice.page.locator(".article h1 a").get_attribute("href")
    more = alice.page.locator(".article-menu > summary")

    inside = alice.page.locator(".article-menu .sheet :focus")
    more.press("Enter")
    # The menu takes the focus in a later task.
    expect(inside).to_have_count(1)
    with alice.page.expect_popup() as original:
        alice.press("Enter")
    assert original.value.url == link
    expect(title).to_have_text(words)
    alice.page.bring_to_front()
    more.press("Enter")
    expect(inside).to_have_count(1)
    alice.press("ArrowDown", "Enter")

    expect(alice.page.locator(".toast")).to_have_text("Copied.")
    assert alice.page.evaluate("navigator.clipboard.readText()") == link
    expect(more).to_be_focused()


def test_letters_typed_while_a_dialog_is_on_its_way_are_for_its_field(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()
    seen = changes(alice)
    held: list[Route] = []
    alice.page.route("**/go", lambda route: held.append(route))

    with alice.page.expect_request("**/go"):
        alice.press("Control+k")
    alice.page.keyboard.type("stone rad")
    held[0].continue_()

    expect(alice.page.get_by_role("dialog").locator("input[type=search]")).to_have_value("stone rad")
    expect(alice.page.locator(".places a:visible")).to_have_count(1)
    assert seen == []


def test_a_key_pressed_twice_opens_one_dialog(browser_user: BrowserUserMaker) -> None:
    alice = browser_user()

    alice.press("+", "+")

    expect(alice.page.get_by_role("dialog")).to_have_count(1)
    alice.press("Escape")
    expect(alice.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("width", [1160, 1440])
def test_what_is_shown_can_be_switched_while_an_article_is_open(browser_user: BrowserUserMaker, width: int) -> None:
    alice = browser_user(at="/feed/2?show=all", width=width)
    open_article(alice)
    if width < 1440:
        alice.page.get_by_title("View", exact=True).click()

    alice.page.locator(".bar").get_by_role("link", name="Unread", exact=True).click()

    alice.page.wait_for_url("**/feed/2?show=unread*")


def test_a_finger_opens_the_labels_without_the_keyboard_of_the_phone(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/all", width=390, height=800, has_touch=True, is_mobile=True)
    alice.page.locator(".row .title").first.tap()
    expect(alice.page.locator(".pane .article")).to_be_visible()

    alice.page.locator(".article-menu > summary").tap()
    alice.page.locator(".part.labels > summary").tap()

    expect(alice.page.locator(".pane").get_by_label("New label")).to_be_visible()
    expect(alice.page.locator(".pane").get_by_label("New label")).not_to_be_focused()
    alice.page.locator(".pane h1").tap(position={"x": 2, "y": 2}, force=True)
    expect(alice.page.locator(".article-menu .sheet")).to_be_hidden()
