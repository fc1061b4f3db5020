"""An expensive query runs once for simultaneous callers, and not too often. All in virtual time."""

import asyncio
from datetime import timedelta

import pytest

from feedmill.errors import DatabaseUnavailable
from feedmill.serve.http.cached_query import MAX_WAIT_SECONDS, CachedQuery
from tests.virtual_time import in_virtual_time, let_pass, virtual_now

AT_ONCE = timedelta()


class Question:
    """Counts how often it is called, and can be slow or fail."""

    def __init__(self) -> None:
        self.asked = 0
        self.seconds = 0.0
        self.fails = False

    async def __call__(self) -> int:
        self.asked += 1
        await let_pass(self.seconds)
        if self.fails:
            raise DatabaseUnavailable("away")
        return self.asked


def sample(question: Question, max_age: timedelta = AT_ONCE) -> CachedQuery[int]:
    return CachedQuery(question, max_age, virtual_now)


@in_virtual_time
async def test_simultaneous_callers_share_one_query() -> None:
    sampled = sample(Question())

    assert await asyncio.gather(*(sampled.read() for _ in range(5))) == [1] * 5


@in_virtual_time
async def test_a_result_is_reused_for_a_while() -> None:
    sampled = sample(Question(), timedelta(minutes=1))

    first = await sampled.read()
    await let_pass(59)
    second = await sampled.read()
    await let_pass(2)

    assert [first, second, await sampled.read()] == [1, 1, 2]


@in_virtual_time
@pytest.mark.parametrize(("seconds", "pause"), [(0.1, 10), (2, 30), (4, 40)])
async def test_the_slower_a_query_the_longer_its_result_is_reused(seconds: float, pause: float) -> None:
    question = Question()
    question.seconds = seconds
    sampled = sample(question)

    first = await sampled.read()
    await let_pass(pause - 1)
    second = await sampled.read()
    await let_pass(2)

    assert [first, second, await sampled.read()] == [1, 1, 2]


@in_virtual_time
async def test_a_caller_that_waited_too_long_gets_the_previous_result() -> None:
    question = Question()
    sampled = sample(question)
    await sampled.read()
    question.seconds = 2 * MAX_WAIT_SECONDS + 1
    began = virtual_now()

    assert [await sampled.read(), await sampled.read()] == [1, 1]
    assert virtual_now() - began == 2 * MAX_WAIT_SECONDS
    assert (await sampled.read(), question.asked) == (2, 2)


@in_virtual_time
async def test_a_failed_query_returns_none() -> None:
    question = Question()
    sampled = sample(question)
    await sampled.read()
    question.fails = True

    assert await sampled.read() is None
