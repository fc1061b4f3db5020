"""Claims on each of the four databases: one winner, leases that expire, a claim check in the write."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import bindparam, select

from feedmill.errors import ConstraintViolated
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import (
    CLAIM_CHECK,
    LEASE,
    claim_due_feeds,
    claim_due_feeds_minimal,
    claim_feeds,
    release_claimed_feeds,
    release_claims,
    renew_claims,
    take_over_claims,
)
from feedmill.store.feeds.read_feeds import feed_of_url
from feedmill.store.schema import feeds, fetch_log
from tests.databases import connect, emptied

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
RACERS = 8
ROUNDS = 200
DUE_FEEDS = 500

ADD_DUE = insert(feeds, "url", "host", "next_fetch_at", "created_at")
LOG = insert(fetch_log, "feed_id", "at", "outcome")
RETITLE = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"))
    .ordered_values(("claim_check", CLAIM_CHECK), ("title", bindparam("title")))
)


@pytest.fixture(params=["sqlite", "postgresql", "mariadb", "d1"])
async def racers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[Database]]:
    """Eight separate connections to one empty database."""
    async with emptied(request, request.param, tmp_path) as first:
        others = [connect(request, request.param, tmp_path) for _ in range(RACERS - 1)]
        yield [first, *others]
        for other in others:
            await other.close()


async def test_of_eight_workers_that_race_for_one_feed_exactly_one_wins_every_round(racers: list[Database]) -> None:
    feed = await add_feed(racers[0], "https://example.org/feed", NOW)

    for number in range(ROUNDS):
        # Each round starts when the lease of the last one has expired, so that no claim has to be released.
        now = NOW + number * LEASE
        won = await asyncio.gather(*(claim_feeds(racer, [feed.id], now) for racer in racers))
        assert sum(map(len, won)) == 1, f"round {number}"


async def test_eight_scans_at_once_claim_every_due_feed_exactly_once(racers: list[Database]) -> None:
    due = {"host": "example.org", "next_fetch_at": to_iso(NOW), "created_at": to_iso(NOW)}
    rows = [{"url": f"https://example.org/{number}", **due} for number in range(DUE_FEEDS)]
    await racers[0].batch([Step(ADD_DUE, rows)])

    claimed = Counter(await _claim_all(racers))

    assert len(claimed) == DUE_FEEDS
    assert set(claimed.values()) == {1}


async def _claim_all(racers: list[Database]) -> list[int]:
    claimed: list[int] = []
    while chunks := [
        chunk for chunk in await asyncio.gather(*(claim_due_feeds(racer, NOW, 50) for racer in racers)) if chunk
    ]:
        claimed += [claim.feed.id for chunk in chunks for claim in chunk]
    return claimed


def test_no_index_has_a_column_of_the_claim() -> None:
    indexed = {column.name for index in feeds.indexes for column in index.columns}

    # PostgreSQL writes every index of a row if one indexed column changes.
    assert not indexed & {"claim_token", "claimed_until", "claim_check", "last_fetched_at", "last_success_at"}


async def test_feeds_that_wait_longest_are_claimed_first(any_db: Database) -> None:
    for minutes in (1, 3, 2):
        await add_feed(any_db, f"https://example.org/{minutes}", NOW - timedelta(minutes=minutes))

    claims = await claim_due_feeds(any_db, NOW, 2)

    assert [claim.feed.url for claim in claims] == ["https://example.org/3", "https://example.org/2"]


async def test_minimal_claims_are_real_claims_that_a_worker_takes_over(any_db: Database) -> None:
    for minutes in (1, 3, 2):
        await add_feed(any_db, f"https://example.org/{minutes}", NOW - timedelta(minutes=minutes))

    claims = await claim_due_feeds_minimal(any_db, NOW, 2)

    assert [claim.feed.url for claim in claims] == ["https://example.org/3", "https://example.org/2"]
    assert [claim.feed.url for claim in await claim_due_feeds(any_db, NOW, 10)] == ["https://example.org/1"]
    assert len(await take_over_claims(any_db, [claim.feed.id for claim in claims], claims[0].token, NOW)) == 2


async def test_a_feed_that_is_not_due_is_claimed_only_by_id(any_db: Database) -> None:
    feed = await add_feed(any_db, "https://example.org/feed", NOW + timedelta(hours=1))

    assert await claim_due_feeds(any_db, NOW, 10) == []
    assert [claim.feed.id for claim in await claim_feeds(any_db, [feed.id], NOW)] == [feed.id]


async def test_a_feed_without_a_next_fetch_is_not_claimed(any_db: Database) -> None:
    await add_feed(any_db, "https://example.org/feed", NOW)
    await any_db.batch([Step(feeds.update().values(next_fetch_at=None))])

    assert await claim_due_feeds(any_db, NOW, 10) == []


async def test_the_claim_of_a_dead_worker_ends_with_its_lease(any_db: Database) -> None:
    await add_feed(any_db, "https://example.org/feed", NOW)
    await claim_due_feeds(any_db, NOW, 1)

    assert await claim_due_feeds(any_db, NOW + LEASE - timedelta(milliseconds=1), 1) == []
    assert len(await claim_due_feeds(any_db, NOW + LEASE, 1)) == 1


async def test_a_renewed_lease_keeps_others_away(any_db: Database) -> None:
    await add_feed(any_db, "https://example.org/feed", NOW)
    [claim] = await claim_due_feeds(any_db, NOW, 1)

    assert await renew_claims(any_db, claim.token, [claim.feed.id], NOW + LEASE / 2) == 1
    assert await claim_due_feeds(any_db, NOW + LEASE, 1) == []


async def test_renewing_reports_a_lost_claim(any_db: Database) -> None:
    await add_feed(any_db, "https://example.org/feed", NOW)
    [lost] = await claim_due_feeds(any_db, NOW, 1)
    await claim_due_feeds(any_db, NOW + LEASE, 1)

    assert await renew_claims(any_db, lost.token, [lost.feed.id], NOW + LEASE) == 0


async def test_a_released_feed_is_due_as_before(any_db: Database) -> None:
    feed = await add_feed(any_db, "https://example.org/feed", NOW)
    claims = await claim_due_feeds(any_db, NOW, 1)

    await release_claims(any_db, claims)

    assert await feed_of_url(any_db, feed.url) == feed
    assert len(await claim_due_feeds(any_db, NOW, 1)) == 1


async def test_only_the_named_feeds_of_a_token_are_renewed_and_released(any_db: Database) -> None:
    for number in range(3):
        await add_feed(any_db, f"https://example.org/{number}", NOW)
    first, second, third = await claim_due_feeds(any_db, NOW, 3)

    await release_claimed_feeds(any_db, {first.token: [first.feed.id], "of nobody": [second.feed.id]})
    assert await renew_claims(any_db, first.token, [second.feed.id], NOW + LEASE / 2) == 1

    due_again = await claim_due_feeds(any_db, NOW + LEASE, 3)
    assert {claim.feed.id for claim in due_again} == {first.feed.id, third.feed.id}


async def test_releasing_a_lost_claim_does_not_touch_the_new_one(any_db: Database) -> None:
    await add_feed(any_db, "https://example.org/feed", NOW)
    lost = await claim_due_feeds(any_db, NOW, 1)
    [held] = await claim_due_feeds(any_db, NOW + LEASE, 1)

    await release_claims(any_db, lost)

    assert await renew_claims(any_db, held.token, [held.feed.id], NOW + LEASE) == 1


async def test_a_worker_that_holds_its_claim_writes_all_of_its_batch(any_db: Database) -> None:
    feed = await add_feed(any_db, "https://example.org/feed", NOW)
    [claim] = await claim_due_feeds(any_db, NOW, 1)

    await any_db.batch(_write(feed.id, claim.token, "from the holder"))

    assert await _written(any_db) == ("from the holder", 1)


async def test_a_worker_that_lost_its_claim_cannot_overwrite_the_feed(any_db: Database) -> None:
    feed = await add_feed(any_db, "https://example.org/feed", NOW)
    [lost] = await claim_due_feeds(any_db, NOW, 1)
    [held] = await claim_due_feeds(any_db, NOW + LEASE, 1)
    await any_db.batch(_write(feed.id, held.token, "from the holder"))

    with pytest.raises(ConstraintViolated):
        await any_db.batch(_write(feed.id, lost.token, "from the one that came too late"))

    assert await _written(any_db) == ("from the holder", 1)


async def test_a_worker_that_released_its_claim_cannot_write_any_more(any_db: Database) -> None:
    feed = await add_feed(any_db, "https://example.org/feed", NOW)
    claims = await claim_due_feeds(any_db, NOW, 1)
    await release_claims(any_db, claims)

    with pytest.raises(ConstraintViolated):
        await any_db.batch(_write(feed.id, claims[0].token, "too late"))

    assert await _written(any_db) == (None, 0)


def _write(feed_id: int, token: str, title: str) -> list[Step]:
    """What is written before the claim check is rolled back with it."""
    return [
        Step(LOG, {"feed_id": feed_id, "at": to_iso(NOW), "outcome": "updated"}),
        Step(RETITLE, {"feed_id": feed_id, "token": token, "title": title}),
    ]


async def _written(db: Database) -> tuple[str | None, int]:
    [feed] = await db.query(select(feeds.c.title))
    return feed["title"], len(await db.query(select(fetch_log.c.id)))
