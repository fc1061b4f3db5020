"""No page lets the browser ask anybody but this server, whatever the articles on it name."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser import sample_feeds
from tests.browser.browser_user import BrowserUser
from tests.browser.demo_data import picture
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.browser.site_server import SiteServer
from tests.scripted_web import Answer

BrowserUserMaker = Callable[..., BrowserUser]
FEED = "Everything from elsewhere"
# `{there}` is another server: anything there that the browser asks for is a request to a third party.
ARTICLES = {
    "Images": (
        '<img src="{there}/a.png" srcset="{there}/a2.png 2x" alt="One"><img data-src="{there}/lazy.png" alt="Two">'
        '<picture><source srcset="{there}/b.png"><img src="{there}/c.png" alt="Three"></picture>'
        '<table background="{there}/d.png"><tr><td>Cell</td></tr></table><input type="image" src="{there}/e.png">'
        '<noscript><img src="{there}/f.png" alt="Four"></noscript>'
    ),
    "Styles and fonts": (
        '<link rel="stylesheet" href="{there}/a.css"><style>@import "{there}/b.css"; @font-face '
        "{{ font-family: x; src: url({there}/c.woff2) }} p {{ font-family: x; background: url({there}/d.png) }}</style>"
        '<p style="background-image: url({there}/e.png); list-style: url({there}/f.png)">Styled words</p>'
        '<link rel="preload" as="font" href="{there}/g.woff2"><link rel="prefetch" href="{there}/h">'
        '<link rel="preconnect" href="{there}/"><link rel="icon" href="{there}/i.ico">'
    ),
    "Frames and objects": (
        '<p>Framed words</p><iframe src="{there}/frame"></iframe><iframe srcdoc="<img src={there}/a.png>"></iframe>'
        '<iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ"></iframe><embed src="{there}/b.swf">'
        '<object data="{there}/c.svg"><img src="{there}/d.png" alt="Five"></object><frameset><frame src="{there}/e">'
        '</frameset><portal src="{there}/f"></portal>'
    ),
    "Media": (
        '<video src="{there}/a.mp4" poster="{there}/b.png" autoplay preload="auto"><track src="{there}/c.vtt" default>'
        '</video><audio src="{there}/d.mp3" autoplay preload="auto"></audio><video autoplay>'
        '<source src="{there}/e.mp4"></video><p>Heard words</p>'
    ),
    "Scripts and the rest": (
        '<script src="{there}/a.js"></script><meta http-equiv="refresh" content="0; url={there}/b">'
        '<base href="{there}/"><svg width="9" height="9"><image href="{there}/c.png"/><use href="{there}/d.svg#x"/>'
        '<style>@import "{there}/e.css"</style></svg><math><mi href="{there}/f">x</mi></math>'
        '<a href="{there}/g" ping="{there}/h">A link with a ping</a><p>Last words</p>'
    ),
}
MORE = (
    '<enclosure url="{there}/sound.mp3" type="audio/mpeg" length="9"/>'
    '<enclosure url="{there}/film.mp4" type="video/mp4" length="9"/>'
    '<enclosure url="{there}/cover.png" type="image/png" length="9"/>'
)
DENSITIES = ("titles", "compact", "cards", "full")
# What stands below the screen loads too.
SEE_ALL = "() => { for (const each of document.images) each.loading = 'eager'; }"
ALL_IS_LOADED = "() => [...document.images].every((each) => each.complete)"


@pytest.fixture(scope="module", autouse=True)
def _articles_that_name_other_servers(site_server: SiteServer) -> None:
    there = site_server.site.web.url("")
    for name in "abc":
        site_server.site.web.serve(f"/{name}.png", Answer(picture(60, 40), headers={"Content-Type": "image/png"}))

    async def subscribe() -> None:
        alice = await sample_feeds.find_user(site_server.site)
        entries = [
            SampleEntry(title, html.format(there=there), hours=n / 10, more=MORE.format(there=there))
            for n, (title, html) in enumerate(ARTICLES.items())
        ]
        await sample_feeds.subscribe_to(site_server.site, alice, SampleFeed("/elsewhere.xml", FEED, entries))

    site_server.do(subscribe())


def others_asked(context: BrowserContext, origin: str) -> list[str]:
    """Collects what all windows of this browser ask of other servers from now on."""
    asked: list[str] = []
    ours = (origin, "data:", "blob:", "about:")
    context.on("request", lambda request: None if request.url.startswith(ours) else asked.append(request.url))
    return asked


def test_a_list_of_any_density_asks_nobody_else(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    alice = browser_user()
    asked = others_asked(alice.page.context, site_server.origin)

    for density in DENSITIES:
        cookie = {"name": "feedmill_appearance", "value": f"density={density}", "url": site_server.origin}
        alice.page.context.add_cookies([cookie])
        alice.page.goto("/all")
        expect(alice.page.locator(".row").first).to_be_visible()
        alice.page.evaluate(SEE_ALL)
        alice.until(ALL_IS_LOADED)

    assert asked == []


@pytest.mark.parametrize("width", [1440, 390])
def test_no_article_asks_anybody_else_before_a_click(
    browser_user: BrowserUserMaker, site_server: SiteServer, width: int
) -> None:
    alice = browser_user(width=width)
    asked = others_asked(alice.page.context, site_server.origin)

    seen = {}
    for title in ARTICLES:
        alice.page.goto("/search?q=feed:elsewhere")
        alice.page.locator(".row .title", has_text=title).first.click()
        alice.reads(title)
        alice.page.evaluate(SEE_ALL)
        alice.until(ALL_IS_LOADED)
        item = alice.page.url
        alice.page.reload()
        alice.reads(title)
        seen[title] = (list(asked), item)
        # What the feed sent, as it sent it: for those who want to look at it.
        original = alice.page.locator("a[href$='/original']").first.get_attribute("href")
        assert original is not None
        alice.page.goto(original)
        seen[f"{title}, as received"] = (list(asked), original)

    assert {title: found for title, (found, _) in seen.items() if found} == {}


def test_a_click_on_a_player_is_what_it_takes(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    """The watch of the network sees what a click loads, so an empty list above means something."""
    alice = browser_user(at="/search?q=feed:elsewhere")
    asked = others_asked(alice.page.context, site_server.origin)
    alice.page.locator(".row .title", has_text="Images").first.click()
    alice.reads("Images")

    with alice.page.expect_request(site_server.site.web.url("/sound.mp3")):
        alice.page.get_by_role("link", name="Play").click()

    assert asked == [site_server.site.web.url("/sound.mp3")]
