"""A job as an event stream: each feed is reported once, also after a reconnect, and then the end."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from feedmill.model.batch import Batch, BatchProgress, JobOutcome
from feedmill.model.timestamps import to_iso
from feedmill.serve.http import job_events
from feedmill.serve.http.job_events import done_event_id, job_event_stream
from feedmill.serve.http.sse import HEARTBEAT, format_event, parse_last_event_id, with_idle_ticks
from feedmill.store.database import Database
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.jobs.batches import start_batch, step_to_end_job
from feedmill.store.jobs.feeds_in_progress import FeedInProgress, feeds_in_progress
from tests.library.small_library import NOW, SmallLibrary

LONG_AGO = datetime(2026, 2, 18, tzinfo=UTC)
Event = tuple[str, int | None, dict[str, Any]]


class Script:
    """Plays scripted progress; after each step it waits while `may_go_on` is not set."""

    def __init__(self, *steps: BatchProgress) -> None:
        self.steps = steps
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self.closed = False

    async def watch(self, batch_id: int) -> AsyncGenerator[BatchProgress, None]:
        try:
            for step in self.steps:
                yield step
                await self.may_go_on.wait()
        finally:
            self.closed = True


def batch(done: int, status: str = "running", total: int = 3) -> Batch:
    return Batch(1, "refresh_all", 1, status, total, done, done, 0, LONG_AGO, None)


def ended(feed_id: int, at: datetime | None = None) -> JobOutcome:
    return JobOutcome(feed_id, "updated", 1, 5, None, to_iso(at or LONG_AGO + timedelta(seconds=feed_id)))


async def told(db: Database, work: Script, seen: int = 0) -> list[Event]:
    stream = job_event_stream(work, db, batch(0), 1, seen)  # type: ignore[arg-type]
    return [_read(line) async for line in stream if line != HEARTBEAT]


def _read(line: bytes) -> Event:
    fields = dict(part.split(": ", 1) for part in line.decode().strip().split("\n"))
    number = int(fields["id"]) if "id" in fields else None
    return fields["event"], number, msgspec.json.decode(fields["data"])


def feeds_of(seen: list[Event]) -> list[int | None]:
    return [number for name, number, _ in seen if name == "feed"]


async def test_each_feed_is_reported_once_with_its_event_id_and_then_the_end(db: Database) -> None:
    work = Script(BatchProgress(batch(2), (ended(2), ended(1))), BatchProgress(batch(3, "done"), (ended(3),)))

    seen = await told(db, work)

    assert feeds_of(seen) == [1, 2, 3]
    assert [name for name, _, _ in seen] == ["feed", "feed", "progress", "feed", "progress", "done"]
    assert seen[-2][2] == {"done": 3, "total": 3, "new": 3, "failed": 0, "waiting": False, "current": []}
    assert seen[-1][1:] == (4, {"done": 3, "total": 3, "new": 3, "failed": 0, "waiting": False, "status": "done"})


async def test_progress_names_the_feeds_that_are_being_fetched_only_to_their_subscribers(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")
    fetched, waiting, bobs, over, stranger = [await library.feed(name) for name in ("a", "b", "c", "d", "e")]
    mine = [await library.subscribe(alice, feed, f"feed {feed}") for feed in (fetched, waiting, over, stranger)]
    await library.subscribe(bob, bobs)
    batch_id, _ = await start_batch(any_db, "refresh_all", [fetched, waiting, bobs, over], NOW)
    await any_db.batch([step_to_end_job(batch_id, JobOutcome(over, "updated"), NOW)])
    running = (fetched, bobs, over, stranger)

    here = await feeds_in_progress(any_db, batch_id, alice.id, running, NOW)
    await claim_feeds(any_db, [waiting], NOW)
    await claim_feeds(any_db, running, NOW + timedelta(seconds=1))
    elsewhere = await feeds_in_progress(any_db, batch_id, alice.id, (), NOW)

    assert here == [FeedInProgress(mine[0], f"feed {fetched}")]
    assert [each.subscription_id for each in elsewhere] == mine[:2]
    assert await feeds_in_progress(any_db, batch_id, alice.id, (), NOW + timedelta(days=1)) == []


async def test_a_client_that_reconnects_gets_every_event_once(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_events, "SETTLED_AFTER", timedelta(hours=1))
    # The first connection got the second feed; the one that ended before it was not written yet.
    now = datetime.now(UTC)
    late, early = ended(1, now - timedelta(milliseconds=300)), ended(2, now - timedelta(milliseconds=200))
    first = await told(db, Script(BatchProgress(batch(2), (ended(3), early))))
    seen = feeds_of(first)[-1] or 0

    second = await told(db, Script(BatchProgress(batch(3, "done"), (ended(3), late, early))), seen)

    assert feeds_of(first) == [1]
    assert feeds_of(second) == [2, 3]


async def test_a_feed_is_reported_although_the_progress_does_not_change(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_events, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(job_events, "SETTLED_AFTER", timedelta(hours=1))
    work = Script(BatchProgress(batch(1), (ended(1, datetime.now(UTC)),)))
    work.may_go_on.clear()
    names = []

    async for line in job_event_stream(work, db, batch(0), 1, 0):  # type: ignore[arg-type]
        if line == HEARTBEAT:
            continue
        names.append(_read(line)[0])
        if names == ["progress"]:
            monkeypatch.setattr(job_events, "SETTLED_AFTER", timedelta())
        if names == ["progress", "feed"]:
            work.may_go_on.set()

    assert names == ["progress", "feed", "done"]


async def test_a_silent_job_sends_heartbeats(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_events, "TICK_SECONDS", 0.01)
    work = Script(BatchProgress(batch(0), ()))
    work.may_go_on.clear()
    heard = 0

    async for line in job_event_stream(work, db, batch(0), 1, 0):  # type: ignore[arg-type]
        heard += line == HEARTBEAT
        if heard == 2:
            work.may_go_on.set()

    assert heard >= 2


async def test_a_stream_closes_its_source_when_the_client_disconnects() -> None:
    work = Script(BatchProgress(batch(0), ()))
    work.may_go_on.clear()
    stream = with_idle_ticks(work.watch(1), 5)

    await anext(stream)
    await stream.aclose()

    assert work.closed


def test_the_end_has_the_last_event_id() -> None:
    assert done_event_id(batch(3)) == 4


@pytest.mark.parametrize(("header", "number"), [(None, 0), ("7", 7), ("", 0), ("-1", 0), ("x", 0), ("9" * 30, 0)])
def test_an_invalid_last_event_id_starts_at_the_beginning(header: str | None, number: int) -> None:
    assert parse_last_event_id(header) == number


def test_an_event_is_one_line_of_json() -> None:
    assert format_event("feed", {"a": "x\ny"}, 3) == b'id: 3\nevent: feed\ndata: {"a":"x\\ny"}\n\n'
