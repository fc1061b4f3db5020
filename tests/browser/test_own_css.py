"""The black theme, and one's own CSS with a way back."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer

BrowserUserMaker = Callable[..., BrowserUser]
GROUNDS = (
    "() => ['html', '.sidebar', '.page'].map((each) => getComputedStyle(document.querySelector(each)).backgroundColor)"
)
BLACK = "rgb(0, 0, 0)"


def requests_to_others(page: Page, origin: str) -> list[str]:
    """What the page requests from other servers, from now on."""
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if not request.url.startswith(origin) else None)
    return seen


def test_the_black_theme_is_chosen_by_keyboard_and_is_black(browser_user: BrowserUserMaker) -> None:
    alice = browser_user(at="/appearance", color_scheme="light")

    alice.page.get_by_role("radio", name="Dark").focus()
    with alice.page.expect_response("**/appearance"):
        alice.press("ArrowRight")

    expect(alice.page.locator("html")).to_have_attribute("data-theme", "black")
    alice.page.goto("/all")
    assert set(alice.page.evaluate(GROUNDS)) <= {BLACK, "rgba(0, 0, 0, 0)"}
    assert alice.page.evaluate(GROUNDS)[0] == BLACK


def test_own_css_that_hides_everything_can_be_taken_back_by_keyboard(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    alice = browser_user(at="/appearance")
    others = requests_to_others(alice.page, site_server.origin)
    alice.page.get_by_role("link", name="Own CSS").press("Enter")
    field = alice.page.get_by_label("Own CSS")

    field.focus()
    alice.page.keyboard.type("body { background: url(https://evil.example/x) }")
    alice.press("Tab", "Enter")
    expect(alice.page.locator("#css-hint")).to_contain_text("could load something from elsewhere")
    field.press("Control+a")
    alice.page.keyboard.type("body { visibility: hidden }")
    alice.press("Tab", "Enter")
    expect(alice.page.locator(".toast")).to_contain_text("Saved")
    expect(field).to_be_visible()

    alice.page.goto("/unread")
    expect(alice.page.locator(".row").first).to_be_hidden()
    alice.page.goto("/unread?css=off")
    expect(alice.page.locator(".row").first).to_be_visible()
    alice.page.goto("/appearance/css")
    field.press("Control+a")
    alice.press("Delete", "Tab", "Enter")
    expect(alice.page.locator(".toast")).to_contain_text("Saved")
    alice.page.goto("/unread")
    expect(alice.page.locator(".row").first).to_be_visible()
    assert others == []
