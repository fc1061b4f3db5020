"""Looking up feeds as a user types them in a form."""

import pytest

from feedmill.library.feeds.lookup import NoSuchFeed, feed_references, find_feed_ids
from feedmill.store.database import Database
from tests.library.small_library import SmallLibrary


async def test_feeds_are_found_by_id_or_url_each_once(db: Database) -> None:
    library = SmallLibrary(db)
    first, second = await library.feed("a"), await library.feed("b")

    found = await find_feed_ids(db, [str(second), "https://a.example.org/", "https://b.example.org/"])

    assert found == [first, second]
    assert await feed_references(db, found) == ["https://a.example.org/", "https://b.example.org/"]
    assert (await find_feed_ids(db, []), await feed_references(db, [])) == ([], [])


@pytest.mark.parametrize("name", ["999", "https://nobody.example/", "no address", "9" * 400])
async def test_an_unknown_feed_is_refused(db: Database, name: str) -> None:
    await SmallLibrary(db).feed("a")

    with pytest.raises(NoSuchFeed):
        await find_feed_ids(db, ["https://a.example.org/", name])
