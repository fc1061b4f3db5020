"""Preferences are stored with the account."""

from dataclasses import replace

from feedmill.library.users.preferences import preferences_of, save_preferences
from feedmill.store.database import Database
from feedmill.store.users.users import user_of_id
from tests.library.small_library import SmallLibrary


async def test_a_changed_preference_leaves_the_others(db: Database) -> None:
    alice = await SmallLibrary(db).person()

    changed = await save_preferences(db, alice, {"theme": "dark", "zone": "Asia/Shanghai"})
    await save_preferences(db, changed, {"theme": "sepia"})

    found = await user_of_id(db, alice.id)
    assert found is not None
    assert preferences_of(found) == {"theme": "sepia", "zone": "Asia/Shanghai"}


async def test_unreadable_preferences_count_as_defaults(db: Database) -> None:
    alice = await SmallLibrary(db).person()

    assert preferences_of(alice) == {}
    assert preferences_of(replace(alice, settings="{")) == {}
    assert preferences_of(replace(alice, settings="[1]")) == {}
