"""Batches: watched, joined, cancelled, resumed, and always ended."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from feedmill.errors import DatabaseUnavailable
from feedmill.model.batch import BatchProgress
from feedmill.model.feed import Claim, Feed
from feedmill.run.batch_running_check import CACHE_SECONDS, BatchRunningCheck
from feedmill.run.batches import ABANDONED_AFTER, Batches
from feedmill.run.job_handlers import OUTAGE_PAUSE
from feedmill.store.database import Database, Step
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.jobs.batches import cancel_batch, read_batch
from feedmill.store.schema import feeds
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.run.conftest import EmbeddedProcess, process_of, running
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.waiting import LONGEST_WAIT, until


async def many(env: RefreshEnvironment, count: int) -> list[Feed]:
    """Feeds with one entry each."""
    return [await env.add(f"/{number}", answer(item(f"entry {number}"))) for number in range(count)]


async def watched(batches: Batches, batch_id: int) -> list[BatchProgress]:
    async with asyncio.timeout(LONGEST_WAIT):
        return [progress async for progress in batches.watch(batch_id)]


def outcomes(seen: list[BatchProgress]) -> Counter[tuple[int, str]]:
    return Counter((outcome.feed_id, outcome.outcome) for progress in seen for outcome in progress.ended)


async def test_a_watcher_gets_one_event_per_feed_and_one_for_the_end(
    env: RefreshEnvironment, process: EmbeddedProcess
) -> None:
    wanted = await many(env, 40)
    env.web.serve("/7", Answer(status=404))

    batch_id, is_new = await process.batches.refresh("refresh_all", [feed.id for feed in wanted])
    seen = await watched(process.batches, batch_id)

    assert is_new
    told = outcomes(seen)
    assert set(told.values()) == {1}
    assert Counter(outcome for _, outcome in told) == {"updated": 39, "failed": 1}
    last = seen[-1].batch
    assert (last.status, last.total, last.done, last.new_entries, last.failed) == ("done", 40, 40, 39, 1)
    assert [progress.batch.done for progress in seen] == sorted(progress.batch.done for progress in seen)


async def test_a_watcher_sees_what_is_being_fetched(env: RefreshEnvironment, process: EmbeddedProcess) -> None:
    is_told = asyncio.Event()

    async def wait_until_told(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await is_told.wait()
        await wire.send(answer(item("at last")).encode())

    slow = await env.add("/slow", answer())
    env.web.serve("/slow", wait_until_told)

    batch_id, _ = await process.batches.refresh("refresh_all", [slow.id])
    async with asyncio.timeout(LONGEST_WAIT):
        async for progress in process.batches.watch(batch_id):
            if progress.running == (slow.id,):
                is_told.set()

    assert is_told.is_set()
    assert (progress.batch.status, progress.running) == ("done", ())


async def test_two_watchers_get_the_same_events(env: RefreshEnvironment, process: EmbeddedProcess) -> None:
    wanted = await many(env, 20)

    batch_id, _ = await process.batches.refresh("refresh_all", [feed.id for feed in wanted])
    first, second = await asyncio.gather(*(watched(process.batches, batch_id) for _ in range(2)))

    assert outcomes(first) == outcomes(second)
    assert sum(outcomes(first).values()) == 20


async def test_a_late_watcher_gets_all_events_at_once(env: RefreshEnvironment, process: EmbeddedProcess) -> None:
    wanted = await many(env, 5)
    batch_id, _ = await process.batches.refresh("refresh_all", [feed.id for feed in wanted])
    await watched(process.batches, batch_id)

    [late] = await watched(process.batches, batch_id)

    assert len(late.ended) == 5
    assert late.batch.status == "done"


async def test_a_second_request_joins_the_batch_and_no_feed_is_fetched_twice(
    env: RefreshEnvironment, process: EmbeddedProcess
) -> None:
    wanted = [feed.id for feed in await many(env, 10)]

    first, _ = await process.batches.refresh("refresh_all", wanted)
    second, is_new = await process.batches.refresh("refresh_all", wanted)
    await watched(process.batches, second)

    assert (second, is_new) == (first, False)
    assert len(env.web.requests) == 10


async def test_an_empty_batch_ends(process: EmbeddedProcess) -> None:
    batch_id, _ = await process.batches.refresh("refresh_all", [])

    seen = await watched(process.batches, batch_id)

    assert seen[-1].batch.status == "done"


async def test_feeds_deleted_before_or_during_the_batch_are_skipped(env: RefreshEnvironment) -> None:
    async def vanish(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await env.db.batch([Step(feeds.delete().where(feeds.c.id == wanted[1].id))])
        await wire.send(answer(item("too late")).encode())

    async with running(env) as process:
        wanted = await many(env, 3)
        env.web.serve("/1", vanish)

        batch_id, _ = await process.batches.refresh("refresh_all", [feed.id for feed in wanted] + [999])
        seen = await watched(process.batches, batch_id)

    ended = {outcome.feed_id: outcome for progress in seen for outcome in progress.ended}
    assert (ended[999].outcome, str(ended[999].message)) == ("skipped", "feed_deleted")
    assert (ended[wanted[1].id].outcome, str(ended[wanted[1].id].message)) == ("skipped", "feed_deleted")
    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 2)


async def test_a_feed_that_is_being_or_was_just_fetched_is_not_fetched_again(
    env: RefreshEnvironment, process: EmbeddedProcess
) -> None:
    busy, fresh, due = await many(env, 3)
    await claim_feeds(env.db, [busy.id], env.now)
    await env.refresh(fresh)
    env.now += timedelta(seconds=12)

    batch_id, _ = await process.batches.refresh("refresh_all", [busy.id, fresh.id, due.id])
    seen = await watched(process.batches, batch_id)

    messages = {outcome.feed_id: str(outcome.message) for progress in seen for outcome in progress.ended}
    assert messages == {busy.id: "already_running", fresh.id: "fetched 12 s ago", due.id: "None"}
    assert [request.path for request in env.web.requests] == ["/1", "/2"]


async def test_a_user_can_retry_a_failing_feed_at_once(env: RefreshEnvironment, process: EmbeddedProcess) -> None:
    [feed] = await many(env, 1)
    env.web.serve("/0", Answer(status=404))
    await env.refresh(feed)
    env.web.serve("/0", answer(item("a")))

    batch_id, _ = await process.batches.refresh("one", [feed.id])
    await watched(process.batches, batch_id)

    assert (await env.feed(feed)).consecutive_failures == 0


async def test_cancelling_drops_waiting_jobs_and_running_ones_finish(env: RefreshEnvironment) -> None:
    gate = asyncio.Event()

    async def slow(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await gate.wait()
        await wire.send(answer(item("slow")).encode())

    async with running(env, at_once=1) as process:
        wanted = await many(env, 5)
        env.web.serve("/0", slow)
        now = 100.0
        process.handlers.batches = BatchRunningCheck(env.db, lambda: now)
        batch_id, _ = await process.batches.refresh("refresh_all", [feed.id for feed in wanted])
        await until(lambda: len(env.web.requests) == 1, otherwise="nobody asked for the feed")

        await cancel_batch(env.db, batch_id, env.now)
        now += CACHE_SECONDS
        gate.set()
        seen = await watched(process.batches, batch_id)
        await process.engine.until_idle()

    assert seen[-1].batch.status == "cancelled"
    assert [request.path for request in env.web.requests] == ["/0"]
    assert await env.titles() == ["slow"]
    assert len(await claim_feeds(env.db, [feed.id for feed in wanted], env.now)) == 5


async def test_a_batch_whose_process_died_is_resumed(env: RefreshEnvironment) -> None:
    wanted = await many(env, 6)
    dead = process_of(env)
    dead.engine._at_once = 0
    batch_id, _ = await dead.batches.refresh("refresh_all", [feed.id for feed in wanted])

    env.now += HOUR
    async with running(env) as process:
        adopted = await process.batches.resume()
        seen = await watched(process.batches, batch_id)

    assert adopted == [batch_id]
    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 6)
    assert len(env.web.requests) == 6


async def test_a_batch_that_waits_long_in_a_running_process_is_not_taken_over(env: RefreshEnvironment) -> None:
    wanted = await many(env, 3)
    async with running(env) as process:
        process.engine._at_once = 0
        batch_id, _ = await process.batches.refresh("refresh_all", [feed.id for feed in wanted])
        for _ in range(3):
            env.now += ABANDONED_AFTER / 2
            await process.handlers.held_claims.renew_all()
            assert await process.batches.resume() == []

        process.engine._at_once = 20
        process.engine._start_next()
        seen = await watched(process.batches, batch_id)

    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 3)


async def test_a_batch_that_could_not_start_keeps_no_claims(
    env: RefreshEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def claim_once(db: Database, ids: Sequence[int], now: datetime) -> list[Claim]:
        monkeypatch.setattr("feedmill.run.batches.claim_feeds", broken)
        return await claim_feeds(db, ids, now)

    async def broken(db: Database, ids: Sequence[int], now: datetime) -> list[Claim]:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr("feedmill.run.batches.CHUNK_SIZE", 2)
    monkeypatch.setattr("feedmill.run.batches.claim_feeds", claim_once)
    wanted = await many(env, 3)
    async with running(env) as process:
        with pytest.raises(DatabaseUnavailable):
            await process.batches.refresh("refresh_all", [feed.id for feed in wanted])

        assert len(process.handlers.held_claims) == 0


async def test_a_job_whose_batch_cannot_be_read_keeps_no_claim(env: RefreshEnvironment) -> None:
    async def broken(batch_id: int) -> bool:
        raise DatabaseUnavailable("gone")

    [feed] = await many(env, 1)
    async with running(env) as process:
        process.handlers.batches.is_running = broken  # type: ignore[method-assign]
        await process.batches.refresh("refresh_all", [feed.id])
        await process.engine.until_idle()

        assert len(process.handlers.held_claims) == 0


async def test_the_batch_of_a_stopping_process_is_taken_over_at_once(env: RefreshEnvironment) -> None:
    wanted = await many(env, 6)
    first = process_of(env)
    first.engine._at_once = 0
    batch_id, _ = await first.batches.refresh("refresh_all", [feed.id for feed in wanted])
    await first.stop()

    async with running(env) as process:
        await process.batches.resume()
        seen = await watched(process.batches, batch_id)

    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 6)


async def test_a_job_that_hangs_is_cancelled_and_its_batch_ends(env: RefreshEnvironment) -> None:
    async def hang(key: str, data: bytes, content_type: str) -> None:
        await asyncio.Event().wait()

    env.blobs.put = hang  # type: ignore[method-assign]
    async with running(env) as process:
        process.engine._hard_limit = 0.2
        [feed] = await many(env, 1)
        batch_id, _ = await process.batches.refresh("refresh_all", [feed.id])
        seen = await watched(process.batches, batch_id)

    assert (seen[-1].batch.status, seen[-1].batch.failed) == ("done", 1)
    assert (await env.feed(feed)).consecutive_failures == 0
    assert len(await claim_feeds(env.db, [feed.id], env.now)) == 1


async def test_a_feed_that_takes_too_long_to_store_is_deferred_and_not_blamed(
    env: RefreshEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(key: str, data: bytes, content_type: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("feedmill.run.job_handlers.TIME_TO_STORE", timedelta(milliseconds=200) - env.tools.soft_limit)
    env.blobs.put = hang  # type: ignore[method-assign]
    [feed] = await many(env, 1)
    async with running(env) as process:
        batch_id, _ = await process.batches.refresh("refresh_all", [feed.id])
        await watched(process.batches, batch_id)

    after = await env.feed(feed)
    assert (after.next_fetch_at, after.consecutive_failures) == (env.now + OUTAGE_PAUSE, 0)
    assert str(after.next_fetch_why) == "an error on this server: it took too long to store"


@pytest.mark.parametrize("at_once", [1, 20])
async def test_new_entries_are_reported_as_they_arrive(env: RefreshEnvironment, at_once: int) -> None:
    async with running(env, at_once=at_once) as process:
        wanted = await many(env, 30)
        batch_id, _ = await process.batches.refresh("refresh_all", [feed.id for feed in wanted])
        seen = await watched(process.batches, batch_id)
        batch = await read_batch(env.db, batch_id)

    assert batch is not None
    assert sum(outcome.new_entries for progress in seen for outcome in progress.ended) == batch.new_entries == 30
