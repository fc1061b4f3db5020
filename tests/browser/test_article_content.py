"""What an article shows besides its text, in a real browser: images, players, tables, code."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from feedmill.html import players
from tests.browser import sample_feeds
from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.demo_data import picture
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.browser.site_server import SiteServer
from tests.scripted_web import Answer

BrowserUserMaker = Callable[..., BrowserUser]


def publish(server: SiteServer, title: str, html: str, more: str = "") -> None:
    """Subscribes Alice to a new feed with one article."""
    path = f"/{title.lower().replace(' ', '-')}.xml"

    async def subscribe() -> None:
        alice = await sample_feeds.find_user(server.site)
        feed = SampleFeed(path, title, [SampleEntry(title, html, 0.1, more=more)])
        await sample_feeds.subscribe_to(server.site, alice, feed)

    server.do(subscribe())


def open_article(alice: BrowserUser, title: str) -> None:
    alice.page.goto("/all")
    alice.page.locator(".row .title", has_text=title).click()
    alice.reads(title)


def foreign_requests(page: Page, origin: str) -> list[str]:
    """Collects the requests of the page to other sites."""
    asked: list[str] = []
    page.on("request", lambda request: None if request.url.startswith((origin, "data:")) else asked.append(request.url))
    return asked


# --- images -----------------------------------------------------------------------------------------------


def test_images_that_are_not_archived_are_simply_there(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    web = site_server.site.web
    here, gone = web.serve("/here.png", Answer(picture(60, 40))), web.serve("/gone.png", Answer(status=404))
    publish(site_server, "Seen first", f'<p><img src="{here}" alt="Here"> <img src="{gone}" alt="The lost one"></p>')
    alice = browser_user()
    asked = foreign_requests(alice.page, site_server.origin)

    open_article(alice, "Seen first")

    shown = alice.page.get_by_role("img", name="Here")
    alice.until("() => document.querySelector('.body img[alt=Here]')?.naturalWidth > 0")
    lost = alice.page.locator(".body .absent")
    expect(lost).to_contain_text("The lost one The site no longer has this image. 127.0.0.1")
    assert lost.get_by_role("link").get_attribute("href") == gone
    assert (shown.count(), asked, len(web.seen("/here.png"))) == (1, [], 1)
    open_article(alice, "Seen first")
    expect(alice.page.locator(".body .kept img[src^='/images/']")).to_have_count(1)
    expect(lost).to_contain_text("The site no longer has this image.")
    assert (len(web.seen("/here.png")), len(web.seen("/gone.png"))) == (1, 1)


# --- frames of other sites --------------------------------------------------------------------------------

VIDEO = (
    '<iframe width="560" height="315" src="https://www.youtube.com/embed/dQw4w9WgXcQ?start=90" title="A talk"></iframe>'
)
OTHER = '<iframe src="https://maps.example/embed?place=mill"></iframe>'
PLAYER = "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1&rel=0&start=90"


def answer_for_youtube(page: Page) -> None:
    page.route("https://www.youtube-nocookie.com/**", lambda route: route.fulfill(body="<p>The player</p>"))


@pytest.fixture
def video_picture(site_server: SiteServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The picture of the video, and what its site says of it; the server fetches both from here."""
    web = site_server.site.web
    still = web.serve("/vi/dQw4w9WgXcQ/hqdefault.jpg", Answer(picture(48, 36)))
    details = Answer(json.dumps({"title": "A talk <b>on mills</b>", "thumbnail_url": still}).encode())
    monkeypatch.setitem(players.DETAILS_URLS, "youtube", web.serve("/oembed", details) + "?url=")
    return still


@pytest.mark.parametrize("way", ["key", "finger"])
def test_a_video_is_a_card_that_plays_in_place_and_asks_nobody_before(
    browser_user: BrowserUserMaker, site_server: SiteServer, video_picture: str, way: str
) -> None:
    publish(site_server, f"Filmed for a {way}", f"<p>Before</p>{VIDEO}<p>After</p>{OTHER}")
    finger = {"width": 390, "height": 800, "has_touch": True, "is_mobile": True} if way == "finger" else {}
    alice = browser_user(**finger)
    answer_for_youtube(alice.page)
    asked = foreign_requests(alice.page, site_server.origin)

    open_article(alice, f"Filmed for a {way}")
    card = alice.page.get_by_role("link", name="A talk on mills Plays here, from YouTube")
    expect(card).to_be_visible()
    alice.until("() => document.querySelector('.frame-card .still')?.naturalWidth === 48")
    other = alice.page.get_by_role("link", name="maps.example Opens maps.example")
    assert (asked, other.get_attribute("href")) == ([], "https://maps.example/embed?place=mill")
    assert serious(alice.page) == []
    if way == "key":
        card.press("Enter")
    else:
        card.tap()

    player = alice.page.frame_locator("iframe.video-frame").frame_locator("iframe")
    expect(player.get_by_text("The player")).to_be_visible()
    inner = alice.page.frame_locator("iframe.video-frame").locator("iframe")
    assert inner.get_attribute("sandbox")
    assert "allow-top-navigation" not in (inner.get_attribute("sandbox") or "")
    assert asked == [PLAYER]
    left = alice.page.get_by_role("link", name="A talk on mills youtube.com")
    assert left.get_attribute("href") == "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=90s"


def test_without_scripts_a_video_is_a_link(
    browser_user: BrowserUserMaker, site_server: SiteServer, video_picture: str
) -> None:
    publish(site_server, "Filmed plainly", VIDEO)
    alice = browser_user(at="/all", java_script_enabled=False)

    alice.page.locator(".row .title", has_text="Filmed plainly").click()

    card = alice.page.locator(".frame-card")
    expect(card).to_have_attribute("href", "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=90s")
    expect(card.locator("img")).to_be_visible()


# --- tables, code, formulas -------------------------------------------------------------------------------

LONG_LINE = "wheel.turn(water.height * 0.82, stones=[" + ", ".join(f"stone_{n}" for n in range(60)) + "])"
WIDE_TABLE = "<table><tr>" + "".join(f"<th>Measured in year {n}</th><td>{n}</td>" for n in range(40)) + "</tr></table>"
FORMULA = (
    "<math display='block'><mi>x</mi><mo>=</mo><mfrac><mrow><mo>-</mo><mi>b</mi><mo>±</mo><msqrt><msup><mi>b</mi>"
    "<mn>2</mn></msup><mo>-</mo><mn>4</mn><mi>a</mi><mi>c</mi></msqrt></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac></math>"
)
ARABIC = "<p>تدور العجلة كل صباح عند شروق الشمس.</p>"


def test_wide_tables_and_code_scroll_by_keyboard_and_show_it(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    publish(site_server, "Wide things", f"<p>Text.</p>{WIDE_TABLE}<pre><code>{LONG_LINE}</code></pre>")
    alice = browser_user(width=1440)
    open_article(alice, "Wide things")

    for name in ("Table", "Code"):
        part = alice.page.get_by_role("group", name=name)
        part.focus()
        expect(part).to_be_focused()
        alice.press("ArrowRight")
        alice.until("(name) => document.querySelector(`[aria-label=${name}]`).scrollLeft > 0", name)
        assert "gradient" in part.evaluate("(part) => getComputedStyle(part).backgroundImage")
    expect(alice.page.locator(".article h1")).to_have_text("Wide things")
    assert serious(alice.page) == []
    assert alice.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_wide_screen_shows_tables_wider_than_the_text(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    publish(site_server, "Much room", f"<p>Text.</p>{WIDE_TABLE}")
    alice = browser_user(width=2560, at="/all")
    href = alice.page.locator(".row .title", has_text="Much room").get_attribute("href")
    alice.page.goto(str(href))

    text, table = (alice.page.locator(f".body > {part}").bounding_box() for part in ("p", ".scrolls"))

    assert text
    assert table
    assert table["width"] > text["width"] + 200
    assert abs((table["x"] + table["width"] / 2) - (text["x"] + text["width"] / 2)) < 2


def test_code_stands_at_the_left_in_text_from_right_to_left(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    publish(site_server, "From the right", f"{ARABIC}<pre><code>wheel.turn()</code></pre>{WIDE_TABLE}")
    alice = browser_user()
    open_article(alice, "From the right")

    code = alice.page.locator(".body pre")

    assert (
        code.evaluate("(code) => getComputedStyle(code).textAlign + ' ' + getComputedStyle(code).direction")
        == "left ltr"
    )
    assert alice.page.locator(".body").evaluate("(body) => body.matches(':dir(rtl)')")
    assert alice.page.evaluate(
        "() => document.querySelector('.pane').scrollWidth <= document.querySelector('.pane').clientWidth"
    )


def test_a_formula_is_drawn_as_one(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    publish(site_server, "A formula", f"<p>The roots:</p>{FORMULA}")
    alice = browser_user()

    open_article(alice, "A formula")

    above, below = (alice.page.locator(f".body mfrac > mrow:nth-child({n})").bounding_box() for n in (1, 2))
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"] + 2
    assert alice.page.locator(".body math").evaluate("(math) => math.namespaceURI").endswith("MathML")


DRAWING = (
    "<svg viewBox='0 0 300 120' onload='window.hacked=1'><rect width='300' height='120' fill='#cde'/>"
    "<script>window.hacked=2</script><text x='20' y='60'>Words of the drawing</text></svg>"
)


def test_a_drawing_is_shown_and_does_nothing(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    publish(site_server, "A drawing", f"<p>Before</p>{DRAWING}<p>After</p>")
    alice = browser_user()
    asked = foreign_requests(alice.page, site_server.origin)

    open_article(alice, "A drawing")
    alice.until("() => document.querySelector('.body img')?.naturalWidth > 0")
    address = str(alice.page.locator(".body img").get_attribute("src"))
    expect(alice.page.locator(".body")).not_to_contain_text("Words of the drawing")
    alice.page.goto(address)

    expect(alice.page.locator("text")).to_have_text("Words of the drawing")
    assert alice.page.evaluate("() => window.hacked ?? 'nothing'") == "nothing"
    assert asked == []


# --- images in full size ----------------------------------------------------------------------------------


@pytest.fixture
def three_pictures(site_server: SiteServer) -> str:
    """The text of an article with three pictures, the second in a link to itself, and one that is a link elsewhere."""
    web = site_server.site.web
    one, two, three = (web.serve(f"/view-{n}.png", Answer(picture(400 + n, 300))) for n in (1, 2, 3))
    return (
        f'<figure><img src="{one}" alt="The wheel"><figcaption>The wheel in May</figcaption></figure>'
        f'<p><a href="{two}"><img src="{two}" alt="The sluice"></a></p><p><img src="{three}" alt="The stones"></p>'
        f'<p><a href="https://example.org/mill"><img src="{one}" alt="A way elsewhere"></a></p>'
    )


def shown_image(alice: BrowserUser) -> str:
    expect(alice.page.locator(".lightbox img")).to_be_visible()
    return str(alice.page.locator(".lightbox img").get_attribute("alt"))


def width_of_image(alice: BrowserUser) -> float:
    return float(alice.page.locator(".lightbox img").evaluate("(image) => image.getBoundingClientRect().width"))


def test_images_are_looked_at_by_keys_which_do_nothing_else_meanwhile(
    browser_user: BrowserUserMaker, site_server: SiteServer, three_pictures: str
) -> None:
    publish(site_server, "Three pictures", three_pictures)
    alice = browser_user()
    open_article(alice, "Three pictures")
    alice.until("() => [...document.querySelectorAll('.body img')].every((image) => image.naturalWidth > 0)")
    alice.page.evaluate("() => { window.focusedBefore = document.activeElement; }")

    alice.press("i")
    dialog = alice.page.get_by_role("dialog", name="Image 1 of 3")
    expect(dialog).to_contain_text("The wheel in May")
    assert shown_image(alice) == "The wheel"
    alice.press("ArrowRight")
    assert shown_image(alice) == "The sluice"
    alice.press("ArrowLeft", "ArrowLeft")
    assert shown_image(alice) == "The stones"
    alice.page.wait_for_load_state()
    usual = width_of_image(alice)
    alice.press("+", "+")
    assert width_of_image(alice) == pytest.approx(2 * usual, rel=0.02)
    alice.press("-", "-")
    assert width_of_image(alice) == pytest.approx(usual, rel=0.02)
    alice.page.keyboard.type("jksmo")
    assert serious(alice.page) == []
    alice.press("Escape")

    expect(alice.page.locator("dialog")).to_have_count(0)
    alice.until("() => document.activeElement === window.focusedBefore")
    alice.reads("Three pictures")


def test_a_finger_opens_an_image_makes_it_larger_and_closes_it(
    browser_user: BrowserUserMaker, site_server: SiteServer, three_pictures: str
) -> None:
    publish(site_server, "Three for a finger", three_pictures)
    alice = browser_user(width=390, height=800, has_touch=True, is_mobile=True)
    open_article(alice, "Three for a finger")

    alice.page.locator(".body img[alt='The sluice']").tap()
    assert shown_image(alice) == "The sluice"
    alice.until("() => document.querySelector('.lightbox img').naturalWidth > 0")
    usual = width_of_image(alice)
    alice.page.get_by_role("button", name="Larger").tap()
    assert width_of_image(alice) > usual
    alice.page.get_by_role("button", name="Next image").tap()
    assert (shown_image(alice), width_of_image(alice)) == ("The stones", pytest.approx(usual, rel=0.02))
    alice.page.get_by_role("button", name="Close").tap()

    expect(alice.page.locator("dialog")).to_have_count(0)
    alice.reads("Three for a finger")
