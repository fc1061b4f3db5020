"""Feeds as a person names them in a form."""

import pytest

from feedmill.library.feed_names import UnknownFeed, feed_ids_named, names_of_feeds
from feedmill.store.database import Database
from tests.library.shelf import Shelf


async def test_feeds_are_named_by_id_or_address_each_once(db: Database) -> None:
    shelf = Shelf(db)
    first, second = await shelf.feed("a"), await shelf.feed("b")

    found = await feed_ids_named(db, [str(second), "https://a.example.org/", "https://b.example.org/"])

    assert found == [first, second]
    assert await names_of_feeds(db, found) == ["https://a.example.org/", "https://b.example.org/"]
    assert (await feed_ids_named(db, []), await names_of_feeds(db, [])) == ([], [])


@pytest.mark.parametrize("name", ["999", "https://nobody.example/", "no address", "9" * 400])
async def test_what_is_no_feed_is_refused(db: Database, name: str) -> None:
    await Shelf(db).feed("a")

    with pytest.raises(UnknownFeed):
        await feed_ids_named(db, ["https://a.example.org/", name])
