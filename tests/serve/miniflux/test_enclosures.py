"""`/v1/enclosures`: files, and how far they were played; and texts of entries, which apps don't change."""

from typing import Any

from feedmill.library.entries.article import read_article
from feedmill.model.parsed_feed import Enclosure
from tests.library.small_library import SmallLibrary
from tests.scripted_web import Answer
from tests.serve.app_client import app_user
from tests.serve.miniflux.miniflux_app import MinifluxApp
from tests.serve.rest.site import Site

FILES = tuple(Enclosure(f"https://example.org/{name}.mp3", "audio/mpeg", 1000) for name in ("one", "two"))


async def arrive(library: SmallLibrary, app: MinifluxApp, **more: Any) -> tuple[int, int]:
    """A subscription of Alice's and an entry of its feed."""
    feed = await library.feed()
    subscription = await library.subscribe(app.user.user, feed)
    [entry] = await library.arrive(feed, "talk", **more)
    return subscription, entry


async def test_a_position_of_an_app_is_that_of_the_pages_too(
    site: Site, library: SmallLibrary, app: MinifluxApp
) -> None:
    _, entry = await arrive(library, app, enclosures=FILES)
    first, second = (each["id"] for each in (await app.get(f"/entries/{entry}"))["enclosures"])

    saved = await app.send("PUT", f"/enclosures/{second}", {"media_progression": 93})
    again = await app.send("PUT", f"/enclosures/{second}", {"media_progression": 95})

    now = site.app.tools.clock()
    article = await read_article(site.app.db, site.app.blobs, app.user.user.id, entry, now)
    assert (saved.status_code, again.status_code) == (204, 204)
    assert await app.get(f"/enclosures/{second}") == {
        "id": second,
        "user_id": app.user.user.id,
        "entry_id": entry,
        "url": FILES[1].url,
        "mime_type": "audio/mpeg",
        "size": 1000,
        "media_progression": 95,
    }
    assert (await app.get(f"/enclosures/{first}"))["media_progression"] == 0
    assert [each["media_progression"] for each in (await app.get("/entries"))["entries"][0]["enclosures"]] == [0, 95]
    assert [file.position and file.position.seconds for file in article.enclosures] == [None, 95]


async def test_nobody_else_sees_or_moves_a_position(site: Site, library: SmallLibrary, app: MinifluxApp) -> None:
    charlie = MinifluxApp(await app_user(site, "charlie"))
    _, entry = await arrive(library, app, enclosures=FILES)
    [file, _] = (await app.get(f"/entries/{entry}"))["enclosures"]
    await app.send("PUT", f"/enclosures/{file['id']}", {"media_progression": 93})

    refused = [
        await charlie.send("GET", f"/enclosures/{file['id']}"),
        await charlie.send("PUT", f"/enclosures/{file['id']}", {"media_progression": 1}),
    ]
    beyond = await app.send("GET", f"/enclosures/{file['id'] + 2}")

    assert [answer.status_code for answer in (*refused, beyond)] == [404, 404, 404]
    assert (await app.get(f"/enclosures/{file['id']}"))["media_progression"] == 93


async def test_an_app_changes_and_adds_no_text_that_others_read(library: SmallLibrary, app: MinifluxApp) -> None:
    subscription, entry = await arrive(library, app)
    before = await app.get("/entries")

    answers = [
        await app.send("PUT", f"/entries/{entry}", {"title": "x", "content": "<p>x</p>"}),
        await app.send("POST", f"/feeds/{subscription}/entries/import", {"url": "https://example.org/x"}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert "shared" in answers[0].json()["error_message"]
    assert await app.get("/entries") == before


async def test_saving_to_another_service_is_refused_as_long_as_there_is_none(
    library: SmallLibrary, app: MinifluxApp
) -> None:
    _, entry = await arrive(library, app)

    answer = await app.send("POST", f"/entries/{entry}/save")

    assert (answer.status_code, await app.get("/integrations/status")) == (400, {"has_integrations": False})


async def test_a_full_text_is_fetched_beside_the_text_of_the_feed(
    site: Site, library: SmallLibrary, app: MinifluxApp
) -> None:
    paragraph = "<p>" + "The miller keeps two kinds of stone, for dry grain and for damp. " * 12 + "</p>"
    page = f"<html><body><nav>Home</nav><article><h1>Mills</h1>{paragraph * 4}</article></body></html>"
    url = site.web.serve("/page", Answer(page.encode(), headers={"Content-Type": "text/html"}))
    _, entry = await arrive(library, app, link=url, content_html="<p>Short.</p>")

    fetched = await app.get(f"/entries/{entry}/fetch-content?update_content=true")

    assert "two kinds of stone" in fetched["content"]
    assert fetched["reading_time"] >= 1
    assert "Short." in (await app.get(f"/entries/{entry}"))["content"]
