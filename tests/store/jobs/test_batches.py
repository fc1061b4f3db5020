"""Batches as rows, on each of the four databases."""

import asyncio
from datetime import UTC, datetime, timedelta

from feedmill.i18n.messages import Message
from feedmill.model.batch import JobOutcome
from feedmill.store.database import Database
from feedmill.store.jobs.batches import (
    batches_of_user,
    cancel_batch,
    failed_jobs,
    finish_batch,
    is_batch_running,
    outcomes_since,
    read_batch,
    release_batches,
    start_batch,
    step_to_end_job,
    take_over_batches,
    unfinished_jobs,
)

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
NOT_FOUND = Message("fetch.http_status", status=404)
MINUTE = timedelta(minutes=1)


async def end(db: Database, batch_id: int, *outcomes: JobOutcome, now: datetime = NOW) -> None:
    await db.batch([step_to_end_job(batch_id, outcome, now) for outcome in outcomes])


async def test_a_batch_counts_its_finished_jobs(any_db: Database) -> None:
    batch_id, is_new = await start_batch(any_db, "refresh_all", [1, 2, 3], NOW)

    await end(
        any_db,
        batch_id,
        JobOutcome(1, "updated", 5),
        JobOutcome(2, "failed", message=NOT_FOUND),
    )

    batch = await read_batch(any_db, batch_id)
    assert is_new
    assert batch is not None
    assert (batch.status, batch.total, batch.done, batch.new_entries, batch.failed) == ("running", 3, 2, 5, 1)
    assert await unfinished_jobs(any_db, batch_id) == [3]


async def test_a_feed_that_is_named_twice_counts_once(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", [1, 2, 1], NOW)

    batch = await read_batch(any_db, batch_id)
    assert batch is not None
    assert batch.total == len(await unfinished_jobs(any_db, batch_id)) == 2


async def test_a_second_request_joins_the_running_batch_and_does_not_change_it(any_db: Database) -> None:
    first, _ = await start_batch(any_db, "refresh_all", [1, 2], NOW)

    second, is_new = await start_batch(any_db, "refresh_all", [2, 3], NOW)

    assert (second, is_new) == (first, False)
    assert sorted(await unfinished_jobs(any_db, first)) == [1, 2]


async def test_of_many_simultaneous_requests_one_starts_a_batch_and_all_get_it(any_db: Database) -> None:
    started = await asyncio.gather(*(start_batch(any_db, "refresh_all", [1, 2], NOW) for _ in range(8)))

    assert len({batch_id for batch_id, _ in started}) == 1
    assert sum(is_new for _, is_new in started) == 1


async def test_another_kind_or_another_user_is_another_batch(any_db: Database) -> None:
    started = [
        await start_batch(any_db, kind, [1], NOW, user_id)
        for kind, user_id in (("refresh_all", None), ("refresh_all", 7), ("import", None))
    ]

    assert len({batch_id for batch_id, _ in started}) == 3


async def test_after_the_end_a_new_batch_starts(any_db: Database) -> None:
    first, _ = await start_batch(any_db, "refresh_all", [1], NOW)
    await end(any_db, first, JobOutcome(1, "unchanged"))
    assert await finish_batch(any_db, first, NOW)

    second, is_new = await start_batch(any_db, "refresh_all", [1], NOW)

    assert is_new
    assert second != first


async def test_only_one_worker_ends_a_batch(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", [], NOW)

    ended = [await finish_batch(any_db, batch_id, NOW) for _ in range(3)]

    assert ended == [True, False, False]


async def test_jobs_without_an_outcome_count_as_failed(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", [1, 2], NOW)
    await end(any_db, batch_id, JobOutcome(1, "updated", 1))

    assert await finish_batch(any_db, batch_id, NOW)

    batch = await read_batch(any_db, batch_id)
    assert batch is not None
    assert (batch.status, batch.done, batch.failed) == ("done", 2, 1)
    [failed] = await failed_jobs(any_db, batch_id, most=2)
    assert failed.message == Message("job.no_outcome")


async def test_ending_a_job_again_changes_nothing(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", [1], NOW)

    await end(any_db, batch_id, JobOutcome(1, "updated", 5))
    await end(any_db, batch_id, JobOutcome(1, "failed"), now=NOW + MINUTE)

    [(_, outcome)] = await outcomes_since(any_db, batch_id, "")
    assert (outcome.outcome, outcome.new_entries) == ("updated", 5)


async def test_cancelling_drops_waiting_jobs_and_happens_once(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", [1, 2], NOW)
    await end(any_db, batch_id, JobOutcome(1, "updated", 5))

    assert await is_batch_running(any_db, batch_id)
    cancelled = [await cancel_batch(any_db, batch_id, NOW) for _ in range(2)]

    assert cancelled == [True, False]
    assert not await is_batch_running(any_db, batch_id)
    assert not await finish_batch(any_db, batch_id, NOW)
    batch = await read_batch(any_db, batch_id)
    assert batch is not None
    assert (batch.status, batch.done, batch.new_entries) == ("cancelled", 2, 5)


async def test_an_orphaned_batch_is_adopted_by_one_process_and_only_after_a_while(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", [1], NOW)

    soon = await take_over_batches(any_db, NOW, NOW + MINUTE)
    later = await asyncio.gather(*(take_over_batches(any_db, NOW + MINUTE, NOW + 2 * MINUTE) for _ in range(4)))

    assert soon == []
    assert sorted(later) == [[], [], [], [batch_id]]


async def test_a_batch_that_its_process_released_is_adopted_at_once(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", [1], NOW)

    await release_batches(any_db, [batch_id])

    assert await take_over_batches(any_db, NOW - MINUTE, NOW) == [batch_id]


async def test_a_batch_can_be_large(any_db: Database) -> None:
    batch_id, _ = await start_batch(any_db, "refresh_all", range(1, 3001), NOW)

    assert len(await unfinished_jobs(any_db, batch_id)) == 3000


async def test_a_missing_batch_is_none(any_db: Database) -> None:
    assert await read_batch(any_db, 12345) is None


async def test_the_batches_of_a_user_are_listed_with_their_results(any_db: Database) -> None:
    first, _ = await start_batch(any_db, "import", [1, 2], NOW, 7, report='{"errors":[]}')
    second, _ = await start_batch(any_db, "refresh", [3], NOW, 7, about="feed-3")
    other, is_new = await start_batch(any_db, "refresh", [4], NOW, 7, about="feed-4")
    await start_batch(any_db, "refresh", [3], NOW, 8, about="feed-3")
    await end(
        any_db,
        first,
        JobOutcome(1, "updated", 5),
        JobOutcome(2, "failed", message=NOT_FOUND),
    )

    mine = await batches_of_user(any_db, 7, 2**53 - 1, 10)

    assert [(batch.id, batch.done, batch.new_entries, batch.failed) for batch in mine] == [
        (other, 0, 0, 0),
        (second, 0, 0, 0),
        (first, 2, 5, 1),
    ]
    assert is_new
    assert mine[-1].report == '{"errors":[]}'
    assert [batch.id for batch in await batches_of_user(any_db, 7, second, 10)] == [first]
    assert [(outcome.feed_id, outcome.message) for outcome in await failed_jobs(any_db, first, 10)] == [(2, NOT_FOUND)]
