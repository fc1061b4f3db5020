"""What a person prefers stays with the account."""

from dataclasses import replace

from feedmill.library.users.preferences import preferences_of, save_preferences
from feedmill.store.database import Database
from feedmill.store.users.users import user_of_id
from tests.library.small_library import SmallLibrary


async def test_preferences_are_kept_beside_those_that_are_not_named(db: Database) -> None:
    alice = await SmallLibrary(db).person()

    changed = await save_preferences(db, alice, {"theme": "dark", "zone": "Asia/Shanghai"})
    await save_preferences(db, changed, {"theme": "sepia"})

    found = await user_of_id(db, alice.id)
    assert found is not None
    assert preferences_of(found) == {"theme": "sepia", "zone": "Asia/Shanghai"}


async def test_settings_that_nobody_can_read_count_as_none(db: Database) -> None:
    alice = await SmallLibrary(db).person()

    assert preferences_of(alice) == {}
    assert preferences_of(replace(alice, settings="{")) == {}
    assert preferences_of(replace(alice, settings="[1]")) == {}
