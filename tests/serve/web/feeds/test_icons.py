"""Icons of feeds on pages: given out as harmlessly as images, and only to who has the feed."""

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


async def test_the_sidebar_shows_the_icon_and_the_initial_where_there_is_none(alice: Visitor, icon: str) -> None:
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


async def test_a_program_learns_where_the_icon_is(alice: Visitor, icon: str) -> None:
    answer = await alice.client.get("/api/feeds")

    assert [feed["icon"] for feed in answer.json()["items"]] == [DIGEST[:16], None]


@pytest.mark.parametrize("digits", [16, 20, 64])
async def test_an_icon_comes_with_its_type_and_can_do_no_harm(alice: Visitor, icon: str, digits: int) -> None:
    answer = await alice.client.get(f"/icon/{DIGEST[:digits]}")

    assert (answer.status_code, answer.content) == (200, sample_images.ICO)
    assert answer.headers["Content-Type"] == "image/x-icon"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"


async def test_who_has_the_icon_is_not_sent_it_again(alice: Visitor, icon: str) -> None:
    answer = await alice.client.get(icon, headers={"If-None-Match": f'"{DIGEST}"'})

    assert (answer.status_code, answer.content) == (304, b"")


async def test_an_icon_is_not_there_for_who_is_not_signed_in_or_does_not_have_the_feed(
    nobody: httpx.AsyncClient, charlie: Visitor, icon: str
) -> None:
    for client in (nobody, charlie.client):
        answer = await client.get(icon, headers={"If-None-Match": f'"{DIGEST}"'})
        assert (answer.status_code, answer.content) == (404, b"")
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", [DIGEST[:15], DIGEST[:16].upper(), DIGEST + "0", "0" * 16, "%25" * 16, "1", "g" * 16])
async def test_anything_else_is_not_there(alice: Visitor, icon: str, name: str) -> None:
    assert (await alice.client.get(f"/icon/{name}")).status_code == 404
