"""What an article shows besides its text, in a real browser: images, players, tables, code."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser import sample_feeds
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
