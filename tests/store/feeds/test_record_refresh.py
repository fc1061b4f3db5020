"""The atomic write of a refresh: all of it or nothing, and only with a valid claim."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from feedmill.errors import ConstraintViolated
from feedmill.i18n.messages import Message, verbatim
from feedmill.model.feed import Claim
from feedmill.model.refresh import (
    EntryDiff,
    Failed,
    FeedMetadata,
    FeedMove,
    FetchStats,
    NewEntry,
    Postponed,
    Schedule,
    Unchanged,
    Updated,
)
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.entries.known_entries import find_known_entries
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import LEASE, claim_feeds
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.feeds.record_refresh import ClaimLost, postpone_feeds, record_refresh
from feedmill.store.schema import entries, feeds, fetch_log, tombstones

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
LATER = Schedule(NOW + HOUR, verbatim("later"))
VISIT = FetchStats(NOW, timedelta(seconds=1), 200, 10)
LOG = insert(fetch_log, "feed_id", "at", "outcome")


def new_entry(guid: str) -> NewEntry:
    return NewEntry(
        guid=guid,
        digest=guid,
        sort_at=NOW,
        published_at=NOW,
        updated_at=None,
        link=None,
        title=guid,
        author=None,
        summary=None,
        content_html=None,
        base_url=None,
        language=None,
        image_url=None,
        comments_url=None,
        categories=(),
        enclosures=(),
        images=(),
    )


def updated(*guids: str) -> Updated:
    return Updated(
        stats=VISIT,
        schedule=LATER,
        changes=EntryDiff(new=tuple(map(new_entry, guids))),
        metadata=FeedMetadata(),
        raw=None,
        entry_count=len(guids),
        etag='"1"',
        last_modified=None,
        body_sha256="sha",
        last_entry_at=NOW,
        usual_gap=None,
        polling_hints=None,
        move=FeedMove(),
    )


async def claimed(db: Database, url: str = "https://example.org/feed") -> Claim:
    feed = await add_feed(db, url, NOW)
    [claim] = await claim_feeds(db, [feed.id], NOW)
    return claim


async def guids(db: Database) -> list[str]:
    return [row["guid"] for row in await db.query(select(entries.c.guid).order_by(entries.c.id))]


async def test_extra_writes_of_a_refresh_are_atomic_with_it(any_db: Database) -> None:
    claim = await claimed(any_db)
    broken = Step(LOG, {"feed_id": claim.feed.id, "at": None, "outcome": "x"})

    with pytest.raises(ConstraintViolated):
        await record_refresh(any_db, claim, updated("a"), [broken])
    assert await guids(any_db) == []

    await record_refresh(
        any_db, claim, updated("a"), [Step(LOG, {"feed_id": claim.feed.id, "at": "t", "outcome": "x"})]
    )
    assert await guids(any_db) == ["a"]


async def test_a_claim_is_valid_for_one_write(any_db: Database) -> None:
    claim = await claimed(any_db)
    await record_refresh(any_db, claim, updated("a"))

    with pytest.raises(ClaimLost):
        await record_refresh(any_db, claim, updated("b"))

    assert await guids(any_db) == ["a"]


async def test_the_next_fetch_and_its_reason_are_written(any_db: Database) -> None:
    claim = await claimed(any_db)

    await record_refresh(any_db, claim, updated("a"))

    assert await guids(any_db) == ["a"]
    [feed] = await feeds_of_ids(any_db, [claim.feed.id])
    assert (feed.next_fetch_at, feed.next_fetch_why, feed.entry_count) == (LATER.at, LATER.why, 1)


async def test_the_reason_is_read_back_with_its_parameters(any_db: Database) -> None:
    claim = await claimed(any_db)
    why = Message("schedule.every", length=2 * HOUR)

    await record_refresh(any_db, claim, replace(updated("a"), schedule=Schedule(NOW + HOUR, why)))

    [feed] = await feeds_of_ids(any_db, [claim.feed.id])
    assert feed.next_fetch_why == why
    assert str(feed.next_fetch_why) == "every 2 h"


async def test_the_expiry_of_the_certificate_is_kept_until_another_is_seen(db: Database) -> None:
    claim = await claimed(db)
    seen = replace(VISIT, certificate_until=NOW + 9 * HOUR)
    await record_refresh(db, claim, replace(updated("a"), stats=seen))
    [again] = await claim_feeds(db, [claim.feed.id], NOW)

    await record_refresh(db, again, Unchanged(VISIT, LATER, None, None, FeedMove()))

    [feed] = await feeds_of_ids(db, [claim.feed.id])
    assert feed.certificate_until == NOW + 9 * HOUR


@pytest.mark.parametrize(
    "decision", [updated("late"), Failed(VISIT, LATER, "http_4xx", verbatim("HTTP 404")), Postponed(LATER)]
)
async def test_an_outcome_without_a_valid_claim_is_not_written(
    any_db: Database, decision: Updated | Failed | Postponed
) -> None:
    lost = await claimed(any_db)
    await claim_feeds(any_db, [lost.feed.id], NOW + LEASE)

    with pytest.raises(ClaimLost):
        await record_refresh(any_db, lost, decision)

    [feed] = await feeds_of_ids(any_db, [lost.feed.id])
    assert (feed.next_fetch_at, feed.consecutive_failures, feed.last_fetched_at) == (NOW, 0, None)
    assert await any_db.query(select(fetch_log.c.id)) == []


async def test_known_and_purged_entries_are_distinguished(any_db: Database) -> None:
    claim = await claimed(any_db)
    await record_refresh(any_db, claim, updated("here", "left"))
    other = await claimed(any_db, "https://example.org/other")
    await record_refresh(any_db, other, updated("theirs"))
    purged = {"feed_id": claim.feed.id, "guid": "purged", "purged_at": to_iso(NOW)}
    gone = entries.update().where(entries.c.guid == "left").values(in_feed=0)
    await any_db.batch([Step(insert(tombstones, *purged), purged), Step(gone)])

    known, tombs = await find_known_entries(any_db, claim.feed.id, ["here", "left", "purged", "theirs", "new"])

    assert {guid: have.in_feed for guid, have in known.items()} == {"here": True, "left": False}
    assert tombs == {"purged"}


async def test_entries_still_in_the_feed_are_always_among_the_known_ones(any_db: Database) -> None:
    claim = await claimed(any_db)
    await record_refresh(any_db, claim, updated("a", "b"))

    known, _ = await find_known_entries(any_db, claim.feed.id, [])

    assert set(known) == {"a", "b"}


async def test_deferred_feeds_are_released_and_due_each_at_its_time(any_db: Database) -> None:
    claims = [await claimed(any_db, f"https://example.org/{number}") for number in range(3)]

    await postpone_feeds(
        any_db, [(claim, Schedule(NOW + number * HOUR, verbatim("w"))) for number, claim in enumerate(claims, 1)]
    )

    rows = await feeds_of_ids(any_db, [claim.feed.id for claim in claims])
    assert [feed.next_fetch_at for feed in rows] == [NOW + HOUR, NOW + 2 * HOUR, NOW + 3 * HOUR]
    assert await any_db.query(select(feeds.c.id).where(feeds.c.claim_token.is_not(None))) == []


async def test_feeds_claimed_by_another_worker_are_not_deferred(any_db: Database) -> None:
    mine, lost = [await claimed(any_db, f"https://example.org/{name}") for name in "ab"]
    await claim_feeds(any_db, [lost.feed.id], NOW + LEASE)

    await postpone_feeds(any_db, [(mine, LATER), (lost, LATER)])

    [feed] = await feeds_of_ids(any_db, [lost.feed.id])
    assert (feed.next_fetch_at, feed.claimed_until) == (NOW, NOW + 2 * LEASE)
