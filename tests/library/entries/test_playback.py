"""How far enclosures were played: kept for all devices of a user, and for nobody else."""

from datetime import datetime, timedelta

import pytest

from feedmill.errors import BadInput, NotFound
from feedmill.library.entries.playback import save_position, save_positions
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.playback import MAX_POSITIONS_AT_ONCE, PlaybackPosition
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.entries.playback_positions import positions_of_entry
from tests.library.small_library import DAY, HOUR, NOW, SmallLibrary

AUDIO = Enclosure("https://example.org/a.mp3", "audio/mpeg", 1000, timedelta(seconds=90))


async def episode_of_alice(db: Database) -> tuple[SmallLibrary, User, int]:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    [entry] = await library.arrive(feed, "episode", enclosures=(AUDIO, AUDIO))
    return library, alice, entry


def at(entry: int, seconds: int, when: datetime, enclosure: int = 0) -> PlaybackPosition:
    return PlaybackPosition(entry, enclosure, seconds, when)


async def test_the_position_that_was_played_last_is_kept_whichever_device_sends_first(any_db: Database) -> None:
    _, alice, entry = await episode_of_alice(any_db)

    await save_positions(any_db, alice.id, [at(entry, 60, NOW - HOUR)], NOW)
    await save_positions(any_db, alice.id, [at(entry, 20, NOW - DAY), at(entry, 7, NOW - DAY, enclosure=1)], NOW)
    await save_positions(any_db, alice.id, [at(entry, 60, NOW - HOUR)], NOW)
    first = await positions_of_entry(any_db, alice.id, entry)
    held = await save_position(any_db, alice.id, at(entry, 0, NOW), NOW)

    assert {place: position.seconds for place, position in first.items()} == {0: 60, 1: 7}
    assert held == at(entry, 0, NOW)


async def test_a_clock_that_is_ahead_does_not_win_for_ever(any_db: Database) -> None:
    _, alice, entry = await episode_of_alice(any_db)

    await save_positions(any_db, alice.id, [at(entry, 10, NOW + 400 * DAY)], NOW)
    await save_positions(any_db, alice.id, [at(entry, 20, NOW + HOUR)], NOW + HOUR)

    assert (await positions_of_entry(any_db, alice.id, entry))[0] == at(entry, 20, NOW + HOUR)


async def test_charlie_neither_sees_nor_moves_the_position_of_alice(any_db: Database) -> None:
    library, alice, entry = await episode_of_alice(any_db)
    charlie = await library.person("charlie")
    await save_positions(any_db, alice.id, [at(entry, 60, NOW - HOUR)], NOW)

    await save_positions(any_db, charlie.id, [at(entry, 5, NOW), at(10**9, 5, NOW)], NOW)
    with pytest.raises(NotFound):
        await save_position(any_db, charlie.id, at(entry, 5, NOW), NOW)

    assert await positions_of_entry(any_db, charlie.id, entry) == {}
    assert (await positions_of_entry(any_db, alice.id, entry))[0].seconds == 60


async def test_a_file_that_the_entry_does_not_have_is_not_found(db: Database) -> None:
    _, alice, entry = await episode_of_alice(db)

    with pytest.raises(NotFound):
        await save_position(db, alice.id, at(entry, 5, NOW, enclosure=2), NOW)
    with pytest.raises(BadInput):
        await save_positions(db, alice.id, [at(entry, 5, NOW)] * (MAX_POSITIONS_AT_ONCE + 1), NOW)
