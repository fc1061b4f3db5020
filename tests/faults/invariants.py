"""What must hold after every drill, whatever happened in it."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import Select, func, select

from feedmill.archive.files import FolderBlobs
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Row
from feedmill.store.schema import (
    batch_jobs,
    batches,
    entries,
    feeds,
    fetch_log,
    image_tasks,
    raw_bodies,
    states,
    subscriptions,
    unread,
)
from tests.faults.world import World

# A day, as for a silent feed, and the jitter.
FARTHEST = timedelta(hours=27)


async def check(world: World, kept_states: list[Row], most_extra_fetches: int) -> None:
    """All of it. `most_extra_fetches`: how many fetches of one feed may have been in vain, each one interrupted."""
    await _every_article_is_there_once(world)
    await _reading_is_untouched(world, kept_states)
    await _nothing_is_stuck(world)
    await _raw_bodies_have_their_objects(world)
    await _log_tells_what_happened(world, most_extra_fetches)
    await _batches_have_ended(world)


async def states_of(world: World) -> list[Row]:
    return await world.db.query(select(states).order_by(states.c.user_id, states.c.entry_id))


async def _every_article_is_there_once(world: World) -> None:
    kept = await world.db.query(
        select(feeds.c.url, entries.c.guid, entries.c.title).join(entries, entries.c.feed_id == feeds.c.id)
    )
    have = Counter((world.farm.urls[row["url"]], row["guid"], row["title"]) for row in kept)
    offered = {(path, one.guid, one.title) for path, articles in world.farm.articles.items() for one in articles}

    assert have.keys() == offered, f"missing: {sorted(offered - have.keys())[:5]}"
    assert set(have.values()) <= {1}
    assert set(Counter((path, title) for path, _, title in have.elements()).values()) <= {1}


async def _reading_is_untouched(world: World, kept_states: list[Row]) -> None:
    assert await states_of(world) == kept_states
    read = {row["entry_id"] for row in kept_states if row["read_at"]}
    waiting = Counter(row["entry_id"] for row in await world.db.query(select(unread.c.entry_id)))
    everything = {row["id"] for row in await world.db.query(select(entries.c.id))}

    assert waiting == Counter(everything - read)
    assert await _counts(world, select(subscriptions.c.feed_id, subscriptions.c.unread_count)) == await _counts(
        world,
        select(subscriptions.c.feed_id, func.count(unread.c.entry_id))
        .join(unread, unread.c.subscription_id == subscriptions.c.id, isouter=True)
        .group_by(subscriptions.c.feed_id),
    )


async def _nothing_is_stuck(world: World) -> None:
    now = datetime.now(UTC)
    for feed in await world.db.query(select(feeds)):
        assert feed["status"] == "active"
        assert feed["consecutive_failures"] == 0, feed["last_error"]
        assert feed["claim_token"] is None, f"feed {feed['id']} is claimed until {feed['claimed_until']}"
        assert feed["claimed_until"] is None
        assert now < from_iso(feed["next_fetch_at"]) < now + FARTHEST


async def _raw_bodies_have_their_objects(world: World) -> None:
    blobs = FolderBlobs(world.objects)
    for row in await world.db.query(select(raw_bodies)):
        assert sha256(await blobs.get(row["key"])).hexdigest() == row["sha256"]


async def _log_tells_what_happened(world: World, most_extra_fetches: int) -> None:
    of_feed = {world.farm.urls[row["url"]]: row for row in await world.db.query(select(feeds))}
    log = await _counts(world, _per_feed(fetch_log, func.count()))
    new = await _counts(world, _per_feed(fetch_log, func.sum(fetch_log.c.new_entries)))
    raw = await _counts(world, _per_feed(raw_bodies, func.count()))
    images = await _counts(world, _per_feed(image_tasks, func.count()))
    updated = await _counts(world, _per_feed(fetch_log, func.count()).where(fetch_log.c.outcome == "updated"))
    asked = world.farm.asked()
    for path, feed in of_feed.items():
        articles = len(world.farm.articles[path])
        assert new[feed["id"]] == images[feed["id"]] == feed["entry_count"] == articles
        assert raw[feed["id"]] == updated[feed["id"]]
        assert log[feed["id"]] <= asked[path] <= log[feed["id"]] + most_extra_fetches, f"{path}: asked too often"


async def _batches_have_ended(world: World) -> None:
    assert {row["status"] for row in await world.db.query(select(batches.c.status))} <= {"done", "cancelled"}
    assert await world.db.query(select(batch_jobs).where(batch_jobs.c.finished_at.is_(None))) == []


def _per_feed(table: Any, count: Any) -> Select[Any]:
    return select(table.c.feed_id, count).group_by(table.c.feed_id)


async def _counts(world: World, question: Select[Any]) -> dict[int, int]:
    rows = [list(row.values()) for row in await world.db.query(question)]
    return {feed_id: int(count) for feed_id, count in rows}
