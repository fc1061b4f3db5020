"""Saved searches."""

import pytest

from feedmill.model.search_query import SavedSearch
from feedmill.store.database import Database
from feedmill.store.search.saved_searches import SearchExists, drop_saved_search, save_search, saved_searches_of
from tests.library.small_library import SmallLibrary


async def test_a_search_is_saved_and_deleted_by_its_owner_only(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")

    saved = await save_search(any_db, alice.id, "chips", "芯片 OR chip*")

    assert await saved_searches_of(any_db, alice.id) == [SavedSearch(saved.id, "chips", "芯片 OR chip*")]
    assert await saved_searches_of(any_db, bob.id) == []
    assert not await drop_saved_search(any_db, bob.id, saved.id)
    assert await drop_saved_search(any_db, alice.id, saved.id)
    assert await saved_searches_of(any_db, alice.id) == []


async def test_a_name_is_unique_for_each_user(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")
    await save_search(any_db, alice.id, "chips", "a")

    with pytest.raises(SearchExists):
        await save_search(any_db, alice.id, "chips", "b")
    await save_search(any_db, bob.id, "chips", "c")
