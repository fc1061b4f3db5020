"""What must hold after every fault test."""

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
from tests.faults.fault_environment import FaultEnvironment

# A day, as for a silent feed, and the jitter.
FARTHEST = timedelta(hours=27)


async def check(env: FaultEnvironment, kept_states: list[Row], most_extra_fetches: int) -> None:
    """Checks all invariants. `most_extra_fetches`: how many interrupted fetches of one feed are allowed."""
    await _every_article_is_there_once(env)
    await _reading_is_untouched(env, kept_states)
    await _nothing_is_stuck(env)
    await _raw_bodies_have_their_objects(env)
    await _log_tells_what_happened(env, most_extra_fetches)
    await _batches_have_ended(env)


async def states_of(env: FaultEnvironment) -> list[Row]:
    return await env.db.query(select(states).order_by(states.c.user_id, states.c.entry_id))


async def _every_article_is_there_once(env: FaultEnvironment) -> None:
    kept = await env.db.query(
        select(feeds.c.url, entries.c.guid, entries.c.title).join(entries, entries.c.feed_id == feeds.c.id)
    )
    have = Counter((env.feed_server.urls[row["url"]], row["guid"], row["title"]) for row in kept)
    offered = {(path, one.guid, one.title) for path, articles in env.feed_server.articles.items() for one in articles}

    assert have.keys() == offered, f"missing: {sorted(offered - have.keys())[:5]}"
    assert set(have.values()) <= {1}
    assert set(Counter((path, title) for path, _, title in have.elements()).values()) <= {1}


async def _reading_is_untouched(env: FaultEnvironment, kept_states: list[Row]) -> None:
    assert await states_of(env) == kept_states
    read = {row["entry_id"] for row in kept_states if row["read_at"]}
    waiting = Counter(row["entry_id"] for row in await env.db.query(select(unread.c.entry_id)))
    everything = {row["id"] for row in await env.db.query(select(entries.c.id))}

    assert waiting == Counter(everything - read)
    assert await _counts(env, select(subscriptions.c.feed_id, subscriptions.c.unread_count)) == await _counts(
        env,
        select(subscriptions.c.feed_id, func.count(unread.c.entry_id))
        .join(unread, unread.c.subscription_id == subscriptions.c.id, isouter=True)
        .group_by(subscriptions.c.feed_id),
    )


async def _nothing_is_stuck(env: FaultEnvironment) -> None:
    now = datetime.now(UTC)
    for feed in await env.db.query(select(feeds)):
        assert feed["status"] == "active"
        assert feed["consecutive_failures"] == 0, feed["last_error"]
        assert feed["claim_token"] is None, f"feed {feed['id']} is claimed until {feed['claimed_until']}"
        assert feed["claimed_until"] is None
        assert now < from_iso(feed["next_fetch_at"]) < now + FARTHEST


async def _raw_bodies_have_their_objects(env: FaultEnvironment) -> None:
    blobs = FolderBlobs(env.objects)
    for row in await env.db.query(select(raw_bodies)):
        assert sha256(await blobs.get(row["key"])).hexdigest() == row["sha256"]


async def _log_tells_what_happened(env: FaultEnvironment, most_extra_fetches: int) -> None:
    of_feed = {env.feed_server.urls[row["url"]]: row for row in await env.db.query(select(feeds))}
    log = await _counts(env, _per_feed(fetch_log, func.count()))
    new = await _counts(env, _per_feed(fetch_log, func.sum(fetch_log.c.new_entries)))
    raw = await _counts(env, _per_feed(raw_bodies, func.count()))
    images = await _counts(env, _per_feed(image_tasks, func.count()))
    updated = await _counts(env, _per_feed(fetch_log, func.count()).where(fetch_log.c.outcome == "updated"))
    asked = env.feed_server.asked()
    for path, feed in of_feed.items():
        articles = len(env.feed_server.articles[path])
        assert new[feed["id"]] == images[feed["id"]] == feed["entry_count"] == articles
        assert raw[feed["id"]] == updated[feed["id"]]
        assert log[feed["id"]] <= asked[path] <= log[feed["id"]] + most_extra_fetches, f"{path}: asked too often"


async def _batches_have_ended(env: FaultEnvironment) -> None:
    assert {row["status"] for row in await env.db.query(select(batches.c.status))} <= {"done", "cancelled"}
    assert await env.db.query(select(batch_jobs).where(batch_jobs.c.finished_at.is_(None))) == []


def _per_feed(table: Any, count: Any) -> Select[Any]:
    return select(table.c.feed_id, count).group_by(table.c.feed_id)


async def _counts(env: FaultEnvironment, question: Select[Any]) -> dict[int, int]:
    rows = [list(row.values()) for row in await env.db.query(question)]
    return {feed_id: int(count) for feed_id, count in rows}
