"""The circuit breaker while storage may be down: one job tries it, the others wait for its result."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from feedmill.errors import BlobUnavailable, DatabaseUnavailable
from feedmill.run.storage_circuit_breaker import FIRST_PAUSE, StorageCircuitBreaker
from tests.virtual_time import in_virtual_time

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
LATER = NOW + timedelta(milliseconds=1)
NOBODY = None


@pytest.fixture
def broken() -> StorageCircuitBreaker:
    breaker = StorageCircuitBreaker()
    breaker.failed(NOW, BlobUnavailable("away"))
    return breaker


async def _may_go_ahead(breaker: StorageCircuitBreaker, now: datetime, asked_at: datetime | None) -> bool:
    async with breaker.attempt(now, asked_at) as may:
        return may


async def test_during_the_pause_only_a_new_manual_job_may_try(broken: StorageCircuitBreaker) -> None:
    assert not await _may_go_ahead(broken, LATER, NOBODY)
    assert await _may_go_ahead(broken, LATER, LATER)


async def test_a_manual_job_from_before_the_failure_does_not_try_again(broken: StorageCircuitBreaker) -> None:
    assert not await _may_go_ahead(broken, LATER, NOW)


async def test_after_the_pause_a_scheduled_job_may_try(broken: StorageCircuitBreaker) -> None:
    assert await _may_go_ahead(broken, NOW + FIRST_PAUSE, NOBODY)


@in_virtual_time
async def test_while_one_job_tries_the_others_wait_and_proceed_if_it_worked(broken: StorageCircuitBreaker) -> None:
    async with broken.attempt(LATER, LATER):
        others = [asyncio.create_task(_may_go_ahead(broken, LATER, LATER)) for _ in range(3)]
        done, _ = await asyncio.wait(others, timeout=60)
        broken.worked()

    assert (done, await asyncio.gather(*others)) == (set(), [True] * 3)


async def test_while_one_job_tries_the_others_wait_and_are_refused_if_it_failed(broken: StorageCircuitBreaker) -> None:
    async with broken.attempt(LATER, LATER):
        others = [asyncio.create_task(_may_go_ahead(broken, LATER, LATER)) for _ in range(3)]
        await asyncio.sleep(0)
        broken.failed(LATER + timedelta(milliseconds=1), BlobUnavailable("away"))

    assert await asyncio.gather(*others) == [False] * 3


async def test_a_refresh_without_a_new_body_does_not_prove_that_the_object_store_works(
    broken: StorageCircuitBreaker,
) -> None:
    broken.worked(kept_body=False)
    assert not broken.is_closed

    broken.worked(kept_body=True)
    assert broken.is_closed


async def test_any_refresh_proves_that_the_database_works() -> None:
    breaker = StorageCircuitBreaker()
    breaker.failed(NOW, DatabaseUnavailable("away"))

    breaker.worked(kept_body=False)

    assert breaker.is_closed


async def test_after_an_attempt_that_proved_nothing_the_next_one_tries(broken: StorageCircuitBreaker) -> None:
    async with broken.attempt(LATER, LATER):
        second = asyncio.create_task(_may_go_ahead(broken, LATER, LATER))
        await asyncio.sleep(0)
        broken.worked(kept_body=False)

    assert await second


def test_failing_storage_is_tried_again_after_the_pause(broken: StorageCircuitBreaker) -> None:
    soon = timedelta(seconds=1)

    assert broken.retry_at(NOW, soon) == NOW + FIRST_PAUSE
    assert broken.retry_at(NOW, 2 * FIRST_PAUSE) == NOW + 2 * FIRST_PAUSE
    assert StorageCircuitBreaker().retry_at(NOW, soon) == NOW + soon
