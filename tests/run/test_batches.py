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
from tests.flows.world import HOUR, World, answer, item
from tests.run.conftest import Mill, mill_of, running
from tests.waiting import LONGEST_WAIT, until
from tests.www import Answer, Seen, Wire


async def many(world: World, count: int) -> list[Feed]:
    """Feeds of which each offers one entry."""
    return [await world.add(f"/{number}", answer(item(f"entry {number}"))) for number in range(count)]


async def watched(batches: Batches, batch_id: int) -> list[BatchProgress]:
    async with asyncio.timeout(LONGEST_WAIT):
        return [progress async for progress in batches.watch(batch_id)]


def outcomes(seen: list[BatchProgress]) -> Counter[tuple[int, str]]:
    return Counter((outcome.feed_id, outcome.outcome) for progress in seen for outcome in progress.ended)


async def test_a_watcher_is_told_of_every_feed_once_and_of_the_end(world: World, mill: Mill) -> None:
    wanted = await many(world, 40)
    world.web.serve("/7", Answer(status=404))

    batch_id, is_new = await mill.batches.refresh("refresh_all", [feed.id for feed in wanted])
    seen = await watched(mill.batches, batch_id)

    assert is_new
    told = outcomes(seen)
    assert set(told.values()) == {1}
    assert Counter(outcome for _, outcome in told) == {"updated": 39, "failed": 1}
    last = seen[-1].batch
    assert (last.status, last.total, last.done, last.new_entries, last.failed) == ("done", 40, 40, 39, 1)
    assert [progress.batch.done for progress in seen] == sorted(progress.batch.done for progress in seen)


async def test_a_watcher_is_told_what_is_being_fetched(world: World, mill: Mill) -> None:
    is_told = asyncio.Event()

    async def wait_until_told(seen: Seen, wire: Wire) -> None:
        await is_told.wait()
        await wire.send(answer(item("at last")).encode())

    slow = await world.add("/slow", answer())
    world.web.serve("/slow", wait_until_told)

    batch_id, _ = await mill.batches.refresh("refresh_all", [slow.id])
    async with asyncio.timeout(LONGEST_WAIT):
        async for progress in mill.batches.watch(batch_id):
            if progress.running == (slow.id,):
                is_told.set()

    assert is_told.is_set()
    assert (progress.batch.status, progress.running) == ("done", ())


async def test_two_watchers_are_told_the_same(world: World, mill: Mill) -> None:
    wanted = await many(world, 20)

    batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id for feed in wanted])
    first, second = await asyncio.gather(*(watched(mill.batches, batch_id) for _ in range(2)))

    assert outcomes(first) == outcomes(second)
    assert sum(outcomes(first).values()) == 20


async def test_who_comes_late_is_told_everything_at_once(world: World, mill: Mill) -> None:
    wanted = await many(world, 5)
    batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id for feed in wanted])
    await watched(mill.batches, batch_id)

    [late] = await watched(mill.batches, batch_id)

    assert len(late.ended) == 5
    assert late.batch.status == "done"


async def test_asking_again_joins_and_no_feed_is_fetched_twice(world: World, mill: Mill) -> None:
    wanted = [feed.id for feed in await many(world, 10)]

    first, _ = await mill.batches.refresh("refresh_all", wanted)
    second, is_new = await mill.batches.refresh("refresh_all", wanted)
    await watched(mill.batches, second)

    assert (second, is_new) == (first, False)
    assert len(world.web.requests) == 10


async def test_a_batch_of_nothing_ends(mill: Mill) -> None:
    batch_id, _ = await mill.batches.refresh("refresh_all", [])

    seen = await watched(mill.batches, batch_id)

    assert seen[-1].batch.status == "done"


async def test_feeds_that_vanished_before_or_meanwhile_are_skipped_as_deleted(world: World) -> None:
    async def vanish(seen: Seen, wire: Wire) -> None:
        await world.db.batch([Step(feeds.delete().where(feeds.c.id == wanted[1].id))])
        await wire.send(answer(item("too late")).encode())

    async with running(world) as mill:
        wanted = await many(world, 3)
        world.web.serve("/1", vanish)

        batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id for feed in wanted] + [999])
        seen = await watched(mill.batches, batch_id)

    ended = {outcome.feed_id: outcome for progress in seen for outcome in progress.ended}
    assert (ended[999].outcome, str(ended[999].message)) == ("skipped", "feed_deleted")
    assert (ended[wanted[1].id].outcome, str(ended[wanted[1].id].message)) == ("skipped", "feed_deleted")
    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 2)


async def test_a_feed_that_runs_already_or_was_fetched_just_now_is_not_fetched_again(world: World, mill: Mill) -> None:
    busy, fresh, due = await many(world, 3)
    await claim_feeds(world.db, [busy.id], world.now)
    await world.refresh(fresh)
    world.now += timedelta(seconds=12)

    batch_id, _ = await mill.batches.refresh("refresh_all", [busy.id, fresh.id, due.id])
    seen = await watched(mill.batches, batch_id)

    messages = {outcome.feed_id: str(outcome.message) for progress in seen for outcome in progress.ended}
    assert messages == {busy.id: "already_running", fresh.id: "fetched 12 s ago", due.id: "None"}
    assert [request.path for request in world.web.requests] == ["/1", "/2"]


async def test_a_person_may_retry_a_failing_feed_at_once(world: World, mill: Mill) -> None:
    [feed] = await many(world, 1)
    world.web.serve("/0", Answer(status=404))
    await world.refresh(feed)
    world.web.serve("/0", answer(item("a")))

    batch_id, _ = await mill.batches.refresh("one", [feed.id])
    await watched(mill.batches, batch_id)

    assert (await world.feed(feed)).consecutive_failures == 0


async def test_cancelling_drops_what_waits_and_what_runs_comes_to_its_end(world: World) -> None:
    gate = asyncio.Event()

    async def slow(seen: Seen, wire: Wire) -> None:
        await gate.wait()
        await wire.send(answer(item("slow")).encode())

    async with running(world, at_once=1) as mill:
        wanted = await many(world, 5)
        world.web.serve("/0", slow)
        now = 100.0
        mill.handlers.batches = BatchRunningCheck(world.db, lambda: now)
        batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id for feed in wanted])
        await until(lambda: len(world.web.requests) == 1, otherwise="nobody asked for the feed")

        await cancel_batch(world.db, batch_id, world.now)
        now += CACHE_SECONDS
        gate.set()
        seen = await watched(mill.batches, batch_id)
        await mill.engine.until_idle()

    assert seen[-1].batch.status == "cancelled"
    assert [request.path for request in world.web.requests] == ["/0"]
    assert await world.titles() == ["slow"]
    assert len(await claim_feeds(world.db, [feed.id for feed in wanted], world.now)) == 5


async def test_a_batch_whose_process_died_is_taken_up_where_it_stood(world: World) -> None:
    wanted = await many(world, 6)
    dead = mill_of(world)
    dead.engine._at_once = 0
    batch_id, _ = await dead.batches.refresh("refresh_all", [feed.id for feed in wanted])

    world.now += HOUR
    async with running(world) as mill:
        adopted = await mill.batches.resume()
        seen = await watched(mill.batches, batch_id)

    assert adopted == [batch_id]
    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 6)
    assert len(world.web.requests) == 6


async def test_a_batch_that_waits_long_in_a_living_process_is_not_taken_from_it(world: World) -> None:
    wanted = await many(world, 3)
    async with running(world) as mill:
        mill.engine._at_once = 0
        batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id for feed in wanted])
        for _ in range(3):
            world.now += ABANDONED_AFTER / 2
            await mill.handlers.keeper.renew_all()
            assert await mill.batches.resume() == []

        mill.engine._at_once = 20
        mill.engine._start_next()
        seen = await watched(mill.batches, batch_id)

    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 3)


async def test_a_batch_that_could_not_be_begun_keeps_no_claims(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def claim_once(db: Database, ids: Sequence[int], now: datetime) -> list[Claim]:
        monkeypatch.setattr("feedmill.run.batches.claim_feeds", broken)
        return await claim_feeds(db, ids, now)

    async def broken(db: Database, ids: Sequence[int], now: datetime) -> list[Claim]:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr("feedmill.run.batches.LOT", 2)
    monkeypatch.setattr("feedmill.run.batches.claim_feeds", claim_once)
    wanted = await many(world, 3)
    async with running(world) as mill:
        with pytest.raises(DatabaseUnavailable):
            await mill.batches.refresh("refresh_all", [feed.id for feed in wanted])

        assert len(mill.handlers.keeper) == 0


async def test_a_job_whose_batch_can_not_be_asked_for_keeps_no_claim(world: World) -> None:
    async def broken(batch_id: int) -> bool:
        raise DatabaseUnavailable("gone")

    [feed] = await many(world, 1)
    async with running(world) as mill:
        mill.handlers.batches.is_running = broken  # type: ignore[method-assign]
        await mill.batches.refresh("refresh_all", [feed.id])
        await mill.engine.until_idle()

        assert len(mill.handlers.keeper) == 0


async def test_a_process_that_stops_leaves_its_batch_to_the_next_at_once(world: World) -> None:
    wanted = await many(world, 6)
    first = mill_of(world)
    first.engine._at_once = 0
    batch_id, _ = await first.batches.refresh("refresh_all", [feed.id for feed in wanted])
    await first.stop()

    async with running(world) as mill:
        await mill.batches.resume()
        seen = await watched(mill.batches, batch_id)

    assert (seen[-1].batch.status, seen[-1].batch.new_entries) == ("done", 6)


async def test_a_job_that_hangs_is_cut_short_and_its_batch_ends(world: World) -> None:
    async def hang(key: str, data: bytes, content_type: str) -> None:
        await asyncio.Event().wait()

    world.blobs.put = hang  # type: ignore[method-assign]
    async with running(world) as mill:
        mill.engine._hard_limit = 0.2
        [feed] = await many(world, 1)
        batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id])
        seen = await watched(mill.batches, batch_id)

    assert (seen[-1].batch.status, seen[-1].batch.failed) == ("done", 1)
    assert (await world.feed(feed)).consecutive_failures == 0
    assert len(await claim_feeds(world.db, [feed.id], world.now)) == 1


async def test_a_feed_that_takes_too_long_to_store_is_put_off_and_not_blamed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(key: str, data: bytes, content_type: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("feedmill.run.job_handlers.TIME_TO_STORE", timedelta(milliseconds=200) - world.tools.soft_limit)
    world.blobs.put = hang  # type: ignore[method-assign]
    [feed] = await many(world, 1)
    async with running(world) as mill:
        batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id])
        await watched(mill.batches, batch_id)

    after = await world.feed(feed)
    assert (after.next_fetch_at, after.consecutive_failures) == (world.now + OUTAGE_PAUSE, 0)
    assert str(after.next_fetch_why) == "a failure of our own: it took too long to store"


@pytest.mark.parametrize("at_once", [1, 20])
async def test_new_entries_are_told_as_they_come(world: World, at_once: int) -> None:
    async with running(world, at_once=at_once) as mill:
        wanted = await many(world, 30)
        batch_id, _ = await mill.batches.refresh("refresh_all", [feed.id for feed in wanted])
        seen = await watched(mill.batches, batch_id)
        batch = await read_batch(world.db, batch_id)

    assert batch is not None
    assert sum(outcome.new_entries for progress in seen for outcome in progress.ended) == batch.new_entries == 30
