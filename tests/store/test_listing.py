"""Pages of entries and mark-all-read, on each of the four databases."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select

from feedmill.model.times import to_text
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.entry_rows import COUNT_UNREAD, UNREAD
from feedmill.store.listing import (
    ENTRIES_OF_FEED,
    TOP,
    UNREAD_COUNTS,
    UNREAD_OF_SUBSCRIPTION,
    UNREAD_PAGE,
    mark_all_read,
)
from feedmill.store.schema import entries, feeds, subscriptions, unread, unread_lists, users
from tests.databases import connect, emptied

NOW = datetime(2026, 2, 18, tzinfo=UTC)
AT = to_text(NOW)
ALICE, BOB = 1, 2

ADD_ENTRY = insert(
    entries, "feed_id", "guid", "sort_at", "refresh_token", "digest", "in_feed", "first_seen_at", "last_seen_at"
)
ADD_LIST = insert(unread_lists, "user_id", "created_at")


@pytest.fixture(params=["sqlite", "postgresql", "mariadb", "d1"])
async def both(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Database, Database]]:
    """Two connections to a library in which Alice and Bob subscribe to feeds 1 and 2, without entries yet."""
    async with emptied(request, request.param, tmp_path) as first:
        await _add_people(first)
        second = connect(request, request.param, tmp_path)
        yield first, second
        await second.close()


@pytest.fixture
def db(both: tuple[Database, Database]) -> Database:
    return both[0]


async def test_pages_follow_each_other_without_gap_or_repeat(db: Database) -> None:
    # Several entries share a time, and one page ends among them.
    numbers = range(25)
    await _arrive(db, feed=1, guids=[str(number) for number in numbers], days=[number // 5 + 1 for number in numbers])

    ids = [row["id"] for row in await _walk(db, page=7)]

    assert len(ids) == len(set(ids)) == 25
    assert ids == sorted(ids, reverse=True)


async def test_a_subscription_lists_its_own_entries_only(db: Database) -> None:
    await _arrive(db, feed=1, guids=["a", "b"], days=[1, 3])
    await _arrive(db, feed=2, guids=["c"], days=[2])
    [of_feed_two] = [row["id"] for row in await db.query(UNREAD_COUNTS, {"user_id": ALICE}) if row["feed_id"] == 2]

    where = {**TOP, "most": 10, "list_id": await _list_of(db, ALICE), "subscription_id": of_feed_two}
    listed = await db.query(UNREAD_OF_SUBSCRIPTION, where)

    assert [(row["feed_id"], row["feed_title"]) for row in listed] == [(2, "feed 2")]


async def test_the_entries_of_a_feed_say_whether_they_are_unread(db: Database) -> None:
    await _arrive(db, feed=1, guids=["old"], days=[1])
    await db.batch(mark_all_read(ALICE, NOW))
    await _arrive(db, feed=1, guids=["new"], days=[2])

    where = {**TOP, "most": 10, "list_id": await _list_of(db, ALICE), "feed_id": 1}
    listed = await db.query(ENTRIES_OF_FEED, where)

    assert [row["is_unread"] for row in listed] == [1, 0]


async def test_marking_all_read_touches_no_entry_and_no_other_reader(db: Database) -> None:
    await _arrive(db, feed=1, guids=[f"{number}" for number in range(30)], days=[1] * 30)

    changed = await db.batch(mark_all_read(ALICE, NOW))

    assert changed == [2, 1, 1, 1]
    assert await _unread_of(db, ALICE) == (0, 0)
    assert await _unread_of(db, BOB) == (30, 30)
    [kept] = await db.query(select(func.count().label("kept")).select_from(unread))
    assert kept["kept"] == 60


async def test_what_comes_after_marking_all_read_is_unread(db: Database) -> None:
    await _arrive(db, feed=1, guids=["a"], days=[1])
    await db.batch(mark_all_read(ALICE, NOW))

    await _arrive(db, feed=1, guids=["b", "c"], days=[1, 1])

    assert await _unread_of(db, ALICE) == (2, 2)


async def test_entries_that_arrive_while_all_is_marked_read_are_counted_where_they_are_listed(
    both: tuple[Database, Database],
) -> None:
    collecting, reading = both

    for number in range(30):
        arrival = _arrive(collecting, feed=1, guids=[f"{number}"], days=[1])
        await asyncio.gather(arrival, reading.batch(mark_all_read(ALICE, NOW)))
        listed, counted = await _unread_of(reading, ALICE)
        assert listed == counted


async def _add_people(db: Database) -> None:
    feed_rows = [
        {"id": n, "url": f"https://example.org/{n}", "host": "example.org", "title": f"feed {n}", "created_at": AT}
        for n in (1, 2)
    ]
    people = [{"id": user, "name": str(user), "unread_list_id": 0, "created_at": AT} for user in (ALICE, BOB)]
    subscribed = [{"user_id": user, "feed_id": feed, "created_at": AT} for user in (ALICE, BOB) for feed in (1, 2)]
    await db.batch(
        [
            Step(insert(feeds, "id", "url", "host", "title", "created_at"), feed_rows),
            Step(insert(users, "id", "name", "unread_list_id", "created_at"), people),
            Step(insert(subscriptions, "user_id", "feed_id", "created_at"), subscribed),
        ]
    )
    for user in (ALICE, BOB):
        await db.batch(mark_all_read(user, NOW))


async def _arrive(db: Database, feed: int, guids: list[str], days: list[int]) -> None:
    """New entries as a refresh may write them: counted first, which waits for whoever marks all read."""
    token = f"{feed} {guids[0]}"
    rows = [
        {"feed_id": feed, "guid": guid, "sort_at": f"2026-01-{day:02}T00:00:00.000Z", "refresh_token": token,
         "digest": "d", "in_feed": 1, "first_seen_at": AT, "last_seen_at": AT}
        for guid, day in zip(guids, days, strict=True)
    ]  # fmt: skip
    await db.batch(
        [
            Step(ADD_ENTRY, rows),
            Step(COUNT_UNREAD, {"feed_id": feed, "new_entries": len(rows)}),
            Step(UNREAD, {"feed_id": feed, "token": token, "in_feed": 1}),
        ]
    )


async def _walk(db: Database, page: int) -> list[Row]:
    below, walked = TOP, list[Row]()
    list_id = await _list_of(db, ALICE)
    while rows := await db.query(UNREAD_PAGE, {**below, "most": page, "list_id": list_id}):
        walked += rows
        below = {"sort_at": rows[-1]["sort_at"], "entry_id": rows[-1]["id"]}
    return walked


async def _list_of(db: Database, user: int) -> int:
    [row] = await db.query(select(users.c.unread_list_id).where(users.c.id == user))
    list_id: int = row["unread_list_id"]
    return list_id


async def _unread_of(db: Database, user: int) -> tuple[int, int]:
    """How many entries stand in the user's list, and how many the subscriptions say there are."""
    where = {**TOP, "most": 1000, "list_id": await _list_of(db, user)}
    counts = await db.query(UNREAD_COUNTS, {"user_id": user})
    return len(await db.query(UNREAD_PAGE, where)), sum(row["unread_count"] for row in counts)
