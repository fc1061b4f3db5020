"""What costs something is asked for once, and not too often. All in virtual time."""

import asyncio
from datetime import timedelta

from feedmill.errors import DatabaseUnavailable
from feedmill.serve.http.cached_query import MAX_WAIT_SECONDS, PAUSE_FACTOR, CachedQuery
from tests.virtual_time import in_virtual_time, let_pass, virtual_now

AT_ONCE = timedelta()


class Question:
    """Counts how often it is asked, and may be slow or fail."""

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
async def test_all_who_ask_at_once_share_one_answer() -> None:
    sampled = sample(Question())

    assert await asyncio.gather(*(sampled.read() for _ in range(5))) == [1] * 5


@in_virtual_time
async def test_an_answer_is_good_for_a_while() -> None:
    sampled = sample(Question(), timedelta(minutes=1))

    first = await sampled.read()
    await let_pass(59)
    second = await sampled.read()
    await let_pass(2)

    assert [first, second, await sampled.read()] == [1, 1, 2]


@in_virtual_time
async def test_the_longer_an_answer_takes_the_longer_it_is_good() -> None:
    question = Question()
    question.seconds = 2
    sampled = sample(question)

    first = await sampled.read()
    await let_pass(2 * PAUSE_FACTOR - 1)
    second = await sampled.read()
    await let_pass(2)

    assert [first, second, await sampled.read()] == [1, 1, 2]


@in_virtual_time
async def test_whoever_is_impatient_gets_what_was_known_before() -> None:
    question = Question()
    sampled = sample(question)
    await sampled.read()
    question.seconds = 2 * MAX_WAIT_SECONDS + 1
    began = virtual_now()

    assert [await sampled.read(), await sampled.read()] == [1, 1]
    assert virtual_now() - began == 2 * MAX_WAIT_SECONDS
    assert (await sampled.read(), question.asked) == (2, 2)


@in_virtual_time
async def test_what_can_not_be_measured_is_left_out() -> None:
    question = Question()
    sampled = sample(question)
    await sampled.read()
    question.fails = True

    assert await sampled.read() is None
