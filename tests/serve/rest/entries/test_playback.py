"""`/api/entries/n/enclosures/m/position`, and chapters and positions in articles."""

from datetime import timedelta

import pytest

from feedmill.api_schemas.entries import ArticleResponse
from feedmill.model.parsed_feed import Chapter, Enclosure
from tests.library.small_library import SmallLibrary
from tests.serve.rest.site import Person, Site

CHAPTERS = (
    Chapter(timedelta(), "Hello"),
    Chapter(timedelta(seconds=12, milliseconds=500), "Stone", "https://example.org/s"),
)
AUDIO = Enclosure("https://example.org/a.mp3", "audio/mpeg", 1000, timedelta(seconds=90), CHAPTERS)


@pytest.fixture
async def episode(site: Site, alice: Person) -> int:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    [entry] = await library.arrive(feed, "episode", enclosures=(AUDIO,))
    return entry


async def test_a_position_is_saved_and_an_older_one_does_not_replace_it(alice: Person, episode: int) -> None:
    path = f"/entries/{episode}/enclosures/0/position"

    saved = await alice.put(path, {"seconds": 42, "played_at": "2026-02-18T08:30:00+01:00"})
    older = await alice.put(path, {"seconds": 3, "played_at": "2026-02-18T07:00:00Z"})
    read = await alice.get(f"/entries/{episode}")
    [enclosure] = ArticleResponse.model_validate(read.json()).enclosures
    latest = await alice.put(path, {"seconds": 0})

    assert saved.json() == {"seconds": 42, "played_at": "2026-02-18T07:30:00Z"}
    assert older.json() == saved.json()
    assert enclosure.seconds == 90
    assert enclosure.position is not None
    assert enclosure.position.seconds == 42
    assert [(chapter.start, chapter.title, chapter.url) for chapter in enclosure.chapters] == [
        (0, "Hello", None),
        (12.5, "Stone", "https://example.org/s"),
    ]
    assert latest.json()["seconds"] == 0


async def test_charlie_sees_nothing_of_it(site: Site, alice: Person, charlie: Person, episode: int) -> None:
    path = f"/entries/{episode}/enclosures/0/position"
    await alice.put(path, {"seconds": 42})

    refused = await charlie.put(path, {"seconds": 1})
    await SmallLibrary(site.app.db).subscribe(charlie.user, 1)
    seen = await charlie.get(f"/entries/{episode}")

    assert refused.status_code == 404
    assert seen.json()["enclosures"][0]["position"] is None


@pytest.mark.parametrize("body", [{}, {"seconds": -1}, {"seconds": 10**8}, {"seconds": 1.5}, {"seconds": "1"}])
async def test_an_invalid_position_is_refused(alice: Person, episode: int, body: dict[str, object]) -> None:
    assert (await alice.put(f"/entries/{episode}/enclosures/0/position", body)).status_code == 422


async def test_a_file_that_is_not_there_has_no_position(alice: Person, episode: int) -> None:
    for path in (f"/entries/{episode}/enclosures/1/position", "/entries/999/enclosures/0/position"):
        assert (await alice.put(path, {"seconds": 1})).status_code == 404
