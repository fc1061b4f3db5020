"""Icons of feeds on pages: served with safe headers, and only to subscribers of the feed."""

from hashlib import sha256

import httpx
import pytest

from feedmill.store.database import Step
from feedmill.store.schema import feeds
from tests.archive.images import sample_images
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor

DIGEST = sha256(sample_images.ICO).hexdigest()
PATH = f"/icon/{DIGEST[:16]}"


@pytest.fixture
async def icon(site: Site, alice: Visitor) -> str:
    """The path of the icon of the first of Alice's two feeds; the other has none."""
    site.web.serve("/favicon.ico", Answer(sample_images.ICO), host="127.0.0.1")
    for feed_id, host in ((1, "127.0.0.1"), (2, "127.0.0.2")):
        there = feeds.update().where(feeds.c.id == feed_id).values(site_url=site.web.url("/", host))
        await site.app.db.batch([Step(there)])
    assert await site.app.icons.fetch() == 2
    return PATH


async def test_the_sidebar_shows_the_icon_or_the_initial(alice: Visitor, icon: str) -> None:
    page = await alice.see("/unread")

    [image] = page.xpath("//a[starts-with(@href, '/feed/')]/img")
    letters = page.xpath("//a[starts-with(@href, '/feed/')]/span[contains(@class, 'mark')]")
    assert dict(image.attrib) == {
        "class": "mark",
        "src": icon,
        "width": "16",
        "height": "16",
        "alt": "",
        "loading": "lazy",
    }
    assert [letter.text for letter in letters] == ["磨"]


async def test_the_api_has_the_url_of_the_icon(alice: Visitor, icon: str) -> None:
    answer = await alice.client.get("/api/feeds")

    assert [feed["icon"] for feed in answer.json()["items"]] == [DIGEST[:16], None]


@pytest.mark.parametrize("digits", [16, 20, 64])
async def test_an_icon_has_its_type_and_safe_headers(alice: Visitor, icon: str, digits: int) -> None:
    answer = await alice.client.get(f"/icon/{DIGEST[:digits]}")

    assert (answer.status_code, answer.content) == (200, sample_images.ICO)
    assert answer.headers["Content-Type"] == "image/x-icon"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"


async def test_an_icon_that_the_browser_has_is_not_sent_again(alice: Visitor, icon: str) -> None:
    answer = await alice.client.get(icon, headers={"If-None-Match": f'"{DIGEST}"'})

    assert (answer.status_code, answer.content) == (304, b"")


async def test_an_icon_is_not_found_without_a_sign_in_or_a_subscription(
    nobody: httpx.AsyncClient, charlie: Visitor, icon: str
) -> None:
    for client in (nobody, charlie.client):
        answer = await client.get(icon, headers={"If-None-Match": f'"{DIGEST}"'})
        assert (answer.status_code, answer.content) == (404, b"")
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", [DIGEST[:15], DIGEST[:16].upper(), DIGEST + "0", "0" * 16, "%25" * 16, "1", "g" * 16])
async def test_anything_else_is_not_found(alice: Visitor, icon: str, name: str) -> None:
    assert (await alice.client.get(f"/icon/{name}")).status_code == 404
