"""How PostgreSQL stores the texts of a search."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from feedmill.model.search_query import Or, TextMatch
from feedmill.store.database import Database
from feedmill.store.migrations import migrate
from feedmill.store.search.find_entries import find_best_matches, find_newest_matches
from tests.databases import blank
from tests.library.small_library import SmallLibrary

COMPRESSIONS = "SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression'"
CHOSEN = (
    "SELECT CAST(attcompression AS text) AS method FROM pg_attribute "
    "WHERE attrelid = 'search_texts'::regclass AND attname = 'words'"
)
USED = "SELECT pg_column_compression(words) AS used FROM search_texts"


@pytest.fixture
async def postgres(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with blank(request, "postgresql", tmp_path) as connect:
        database = connect()
        await migrate(database)
        yield database
        await database.close()


async def test_texts_are_compressed_as_fast_as_the_server_can(postgres: Database) -> None:
    [offered], [chosen] = await postgres.query(text(COMPRESSIONS)), await postgres.query(text(CHOSEN))

    assert chosen["method"] == ("l" if "lz4" in offered["enumvals"] else "")


async def test_texts_are_found_on_a_server_without_lz4(postgres: Database) -> None:
    library = SmallLibrary(postgres)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await postgres.exec("ALTER TABLE search_texts ALTER COLUMN words SET COMPRESSION pglz")

    [entry] = await library.arrive(feed, "long", content_html=f"{'some words ' * 400} grey heron")

    assert (await postgres.query(text(USED)))[0]["used"] == "pglz"
    assert list(await find_newest_matches(postgres, TextMatch(("grey", "heron")), alice.id, 50)) == [entry]


async def test_equal_matches_of_different_words_are_ordered_by_date(postgres: Database) -> None:
    library = SmallLibrary(postgres)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    ids = list[int]()
    for word in ("heron", "egret") * 4:
        ids += await library.arrive(feed, f"{word} {len(ids)}", content_html=f"{word} " * 5)

    either = Or((TextMatch(("heron",)), TextMatch(("egret",))))

    assert list(await find_best_matches(postgres, either, alice.id, 50)) == ids[::-1]
