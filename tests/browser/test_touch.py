"""Touch gestures on a phone: swipe, long press, pull to refresh."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import CDPSession, Locator, expect

from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.page_timers import RESTING_FINGER, SERVERS_TOAST

BrowserUserMaker = Callable[..., BrowserUser]
IS_PAINTED = "([x, y]) => Boolean(document.elementFromPoint(x, y)?.closest('.hint-of-swipe'))"


@dataclass(frozen=True)
class TouchInput:
    session: CDPSession

    def down(self, x: float, y: float) -> None:
        self._send("touchStart", {"x": x, "y": y})

    def move(self, x: float, y: float) -> None:
        self._send("touchMove", {"x": x, "y": y})

    def up(self) -> None:
        self._send("touchEnd")

    def drag(self, x: float, y: float, across: float = 0, along: float = 0) -> None:
        self.down(x, y)
        for step in range(1, 6):
            self.move(x + across * step / 5, y + along * step / 5)
        self.up()

    def _send(self, kind: str, *points: dict[str, float]) -> None:
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def on_a_phone(browser_user: BrowserUserMaker, *held: int) -> tuple[BrowserUser, TouchInput]:
    alice = browser_user(width=360, height=740, has_touch=True, is_mobile=True, at="/all", held=held)
    return alice, TouchInput(alice.page.context.new_cdp_session(alice.page))


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_row_is_swiped_to_be_read_or_to_wait(browser_user: BrowserUserMaker) -> None:
    alice, touch = on_a_phone(browser_user, RESTING_FINGER)
    row = alice.page.locator(".row.unread").first
    marked = alice.page.locator(f"#{row.get_attribute('id')}")
    x, y = middle(row)

    with alice.page.expect_response("**/marks"):
        # So far that the browser would go back to the page before, if the finger were its own.
        touch.drag(x - 150, y, across=300)
        touch.drag(x + 60, y, across=-120)

    expect(marked).not_to_contain_class("unread")
    expect(marked).to_contain_class("later")
    expect(alice.page.locator(".pane .article")).to_have_count(0)
    expect(alice.page).to_have_url("/all")


def test_a_swipe_shows_what_it_does_and_can_be_undone(browser_user: BrowserUserMaker) -> None:
    alice, touch = on_a_phone(browser_user, RESTING_FINGER, SERVERS_TOAST)
    row = alice.page.locator(".row.unread:not(.later)").nth(1)
    marked = alice.page.locator(f"#{row.get_attribute('id')}")
    hint, undo = marked.locator(".hint-of-swipe"), alice.page.locator(".toast").get_by_role("button", name="Undo")
    x, y = middle(marked)

    touch.down(x, y)
    touch.move(x + 40, y)
    expect(hint).to_have_text("Read")
    expect(marked).not_to_contain_class("far")
    touch.move(x - 100, y)
    expect(hint).to_have_text("Read later")
    expect(marked).to_contain_class("far")
    box = hint.bounding_box()
    assert box is not None
    # Text alone is no proof: what is clipped has it too.
    assert alice.page.evaluate(IS_PAINTED, [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    touch.up()
    expect(marked).to_contain_class("later")
    expect(hint).to_have_count(0)
    assert serious(alice.page) == []
    # Right after a drag that ends in a throw the browser takes a tap for its end: this clicks.
    undo.click()
    expect(marked).not_to_contain_class("later")
    expect(alice.page.locator(".toast")).to_have_count(0)

    touch.drag(x - 100, y, across=200)
    expect(marked).not_to_contain_class("unread")
    undo.click()
    expect(marked).to_contain_class("unread")
    touch.drag(x, y, across=50)
    expect(marked).to_contain_class("unread")
    touch.drag(x - 100, y, across=200)
    touch.drag(x - 100, y, across=200)
    expect(alice.page.locator(".toast")).to_contain_text("Marked as unread.")
    undo.click()
    expect(marked).not_to_contain_class("unread")


def test_the_bar_of_an_article_has_four_actions_and_a_menu_with_the_rest(browser_user: BrowserUserMaker) -> None:
    alice, _ = on_a_phone(browser_user)
    alice.page.add_init_script("navigator.share = async (what) => { window.shared = what; }")
    alice.page.reload()
    alice.page.get_by_role("link", name="Larch, oak").tap()
    bar = alice.page.get_by_role("toolbar")
    expect(bar.locator(".tool:visible .caption")).to_have_text(["Back", "Star", "Read later", "Next", "More"])

    bar.locator(".article-menu > summary").tap()
    menu = bar.locator(".article-menu .sheet")
    links = ["Open original", "Share", "Copy link", "Send by email", "Fetch the full article"]
    names = [*links, "Read", "Labels", "Mute or follow", "Text and theme", "Previous"]
    expect(menu.locator(".item:visible")).to_have_text(names)
    assert serious(alice.page) == []
    menu.get_by_text("Text and theme").tap()
    expect(menu.get_by_text("Line height")).to_be_visible()
    menu.get_by_role("button", name="Share").tap()

    expect(menu).to_be_hidden()
    shared = alice.page.evaluate("window.shared")
    assert shared["url"].startswith("https://example.org/")
    assert shared["title"] == alice.page.locator(".article h1").inner_text()


def test_a_word_is_muted_in_two_taps(browser_user: BrowserUserMaker) -> None:
    alice, _ = on_a_phone(browser_user)
    alice.page.goto("/item/1?in=/all")

    alice.page.locator(".article-menu > summary").tap()
    alice.page.locator(".subjects").get_by_role("button", name="Flood").tap()

    expect(alice.page.locator(".toast")).to_contain_text("“Flood” is muted.")
    alice.page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(alice.page.locator(".toast")).to_contain_text("It was deleted.")


def test_a_held_row_opens_a_menu_and_is_not_clicked(browser_user: BrowserUserMaker) -> None:
    alice, touch = on_a_phone(browser_user)
    row = alice.page.locator(".row:not(.starred)").nth(2)
    marked = alice.page.locator(f"#{row.get_attribute('id')}")
    title = marked.locator(".title").inner_text()

    touch.down(*middle(marked))
    menu = alice.page.get_by_role("dialog", name=title)
    expect(menu).to_be_visible()
    touch.up()
    assert serious(alice.page) == []
    with alice.page.expect_response("**/marks"):
        menu.get_by_role("button", name="Star").tap()

    expect(menu).to_have_count(0)
    expect(marked).to_contain_class("starred")
    expect(alice.page.locator(".pane .article")).to_have_count(0)
    touch.down(*middle(marked))
    expect(menu.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    touch.up()
    menu.get_by_role("button", name="Select").tap()
    expect(alice.page.locator(".bulk .chosen")).to_have_text("1 selected")


def test_a_list_pulled_from_its_top_is_refreshed(browser_user: BrowserUserMaker) -> None:
    alice, touch = on_a_phone(browser_user, RESTING_FINGER)
    x, y = middle(alice.page.locator(".row").nth(1))
    asked: list[str] = []
    alice.page.on("request", lambda request: asked.append(request.url) if "refresh-all" in request.url else None)

    touch.drag(x, y, along=60)
    alice.page.evaluate("scrollTo(0, 200)")
    touch.drag(x, y, along=120)
    assert asked == []
    alice.page.evaluate("scrollTo(0, 0)")
    with alice.page.expect_response("**/refresh-all"):
        touch.drag(x, y, along=160)

    expect(alice.page.locator("#strip .strip")).to_be_visible()
    expect(alice.page.locator(".pane .article")).to_have_count(0)
