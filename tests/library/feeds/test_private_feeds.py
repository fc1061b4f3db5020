"""A private feed, one that is fetched with a user's own password, when its account is deleted."""

from collections.abc import Sequence
from typing import Any

from feedmill.archive.object_keys import descriptor_key
from feedmill.library.feeds.private_feeds import private_url
from feedmill.library.subscriptions.change_subscription import unsubscribe
from feedmill.library.users.manage_users import remove_user
from feedmill.model.refresh import Revision
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor, User
from feedmill.store.archive.object_garbage import count_garbage
from feedmill.store.database import Database, Row, Step
from feedmill.store.entries.add_entries import steps_to_add_revisions
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.lifecycle import private_feeds_of
from feedmill.store.schema import (
    entries,
    feeds,
    fetch_log,
    image_tasks,
    metadata,
    object_garbage,
    pool_groups,
    pool_items,
    raw_bodies,
    states,
    subscriptions,
)
from feedmill.store.users.users import add_user, user_of_id
from tests.library.small_library import NOW, SmallLibrary

AT = to_iso(NOW)
ADDRESS = "https://news.example/feed"


class Killed(BaseException):
    """Simulates kill -9: no later code runs."""


class KilledBeforeBatch:
    """A database whose process is killed before one of its batches."""

    def __init__(self, db: Database, batches: int) -> None:
        self._db, self._left = db, batches

    async def query(self, *args: Any) -> Sequence[Row]:
        return await self._db.query(*args)

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        if self._left == 0:
            raise Killed
        self._left -= 1
        return await self._db.batch(steps)


async def people(db: Database) -> tuple[User, User]:
    return await add_user(db, "alice", None, True, NOW), await add_user(db, "bob", None, False, NOW)


async def private_feed(db: Database, user: User) -> int:
    """A private feed of the user with rows in every table that refers to a feed, and their subscription to it."""
    library = SmallLibrary(db)
    feed = (await add_feed(db, private_url(ADDRESS, user.id), NOW)).id
    await library.subscribe(user, feed)
    one, _ = await library.arrive(feed, f"{user.name} one", f"{user.name} two")
    revision = Revision(one, 1, "digest", ADDRESS, "changed", None, None, "<p>changed</p>")
    await db.batch(steps_to_add_revisions([revision], AT))
    group = f"group of {user.name}"
    await db.batch([Step(pool_groups.insert().values(name=group, rule="{}", created_at=AT))])
    [made] = [row for row in await db.query(pool_groups.select()) if row["name"] == group]
    pooled = {"group_id": made["id"], "kind": "titles", "entry_id": one, "batch_id": 1, "changed_at": AT}
    image = {"feed_id": feed, "entry_id": one, "original_url": ADDRESS, "created_at": AT, "updated_at": AT}
    body = {"feed_id": feed, "key": f"backups/{feed}/a.xml", "fetched_at": AT, "sha256": "x"}
    await db.batch(
        [
            Step(feeds.update().where(feeds.c.id == feed).values(http_options='{"cookie": "secret"}')),
            Step(pool_items.insert().values(**pooled)),
            Step(image_tasks.insert().values(**image, status="success", object_key=f"images/{feed}/a/0.png")),
            Step(raw_bodies.insert().values(**body)),
            Step(fetch_log.insert().values(feed_id=feed, at=AT, outcome="ok")),
            Step(states.insert().values(user_id=user.id, entry_id=one, starred_at=AT)),
        ]
    )
    return feed


async def test_a_private_feed_is_deleted_with_its_account_and_others_stay(any_db: Database) -> None:
    alice, bob = await people(any_db)
    gone, stays = await private_feed(any_db, bob), await private_feed(any_db, alice)
    shared = await SmallLibrary(any_db).feed("shared")
    await SmallLibrary(any_db).subscribe(bob, shared)

    await remove_user(any_db, bob, Actor(), NOW)

    assert {row["id"] for row in await any_db.query(feeds.select())} == {stays, shared}
    assert await rows_of(any_db, gone) == {}
    assert (await rows_of(any_db, stays)).keys() >= {"entries", "image_tasks", "raw_bodies", "fetch_log"}
    assert {row["key"] for row in await any_db.query(object_garbage.select())} == {
        f"images/{gone}/a/0.png",
        f"backups/{gone}/a.xml",
        descriptor_key(gone),
    }


async def test_a_deletion_that_is_killed_at_any_point_is_finished_by_the_next(any_db: Database) -> None:
    _, bob = await people(any_db)
    gone = await private_feed(any_db, bob)

    killed = 0
    while await user_of_id(any_db, bob.id):
        try:
            await remove_user(KilledBeforeBatch(any_db, killed), bob, Actor(), NOW)  # type: ignore[arg-type]
        except Killed:
            killed += 1
        objects = {row["object_key"] for row in await any_db.query(image_tasks.select())}
        noted = {row["key"] for row in await any_db.query(object_garbage.select())}
        assert f"images/{gone}/a/0.png" in objects | noted, "an object that no row knows is lost"

    assert killed > 4
    assert await rows_of(any_db, gone) == {}
    assert await any_db.query(feeds.select()) == []
    assert await count_garbage(any_db) == 3


async def test_a_user_whose_id_has_the_same_ending_keeps_their_feed(any_db: Database) -> None:
    await add_feed(any_db, private_url(ADDRESS, 15), NOW)
    mine = await add_feed(any_db, private_url(ADDRESS, 5), NOW)

    assert await private_feeds_of(any_db, 5) == [mine.id]


async def test_starred_entries_of_a_private_feed_stay_after_unsubscribing_until_the_account_is_deleted(
    any_db: Database,
) -> None:
    _, bob = await people(any_db)
    left = await private_feed(any_db, bob)
    [mine] = await any_db.query(subscriptions.select())

    await unsubscribe(any_db, bob.id, mine["id"])
    kept = [row["feed_id"] for row in await any_db.query(entries.select())]
    [feed] = await any_db.query(feeds.select())
    await remove_user(any_db, bob, Actor(), NOW)

    assert kept == [left, left]
    assert feed["http_options"] is None
    assert await any_db.query(feeds.select()) == []


async def rows_of(db: Database, feed_id: int) -> dict[str, list[Row]]:
    """By table, the rows that refer to a feed or to one of its entries."""
    found = {}
    for table in metadata.sorted_tables:
        if "feed_id" in table.c:
            found[table.name] = await db.query(table.select().where(table.c.feed_id == feed_id))
        elif "entry_id" in table.c:
            there = {row["id"] for row in await db.query(entries.select())}
            found[table.name] = [row for row in await db.query(table.select()) if row["entry_id"] not in there]
    return {name: rows for name, rows in found.items() if rows}
