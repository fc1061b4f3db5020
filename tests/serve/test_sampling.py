"""What costs something is asked for once, and not too often."""

import asyncio
from datetime import timedelta

import pytest

from feedmill.errors import DatabaseUnavailable
from feedmill.serve import sampling
from feedmill.serve.sampling import Sampled

AT_ONCE = timedelta()


class Question:
    """Counts how often it is asked, and may be slow or fail."""

    def __init__(self) -> None:
        self.asked = 0
        self.seconds = 0.0
        self.fails = False

    async def __call__(self) -> int:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        if self.fails:
            raise DatabaseUnavailable("away")
        return self.asked


async def test_all_who_ask_at_once_share_one_answer() -> None:
    question = Question()
    sampled = Sampled(question, AT_ONCE)

    assert await asyncio.gather(*(sampled.read() for _ in range(5))) == [1] * 5


async def test_an_answer_is_good_for_a_while() -> None:
    question = Question()
    sampled = Sampled(question, timedelta(minutes=1))

    assert [await sampled.read(), await sampled.read()] == [1, 1]


async def test_the_longer_an_answer_takes_the_longer_it_is_good() -> None:
    question = Question()
    question.seconds = 0.02
    sampled = Sampled(question, AT_ONCE)
    await sampled.read()
    await asyncio.sleep(0.1)

    assert await sampled.read() == 1


async def test_whoever_is_impatient_gets_what_was_known_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "PATIENCE", 0.01)
    monkeypatch.setattr(sampling, "SHARE", 0)
    question = Question()
    sampled = Sampled(question, AT_ONCE)
    await sampled.read()
    question.seconds = 0.1

    assert [await sampled.read(), await sampled.read()] == [1, 1]
    await asyncio.sleep(0.15)
    assert (await sampled.read(), question.asked) == (2, 3)
    await asyncio.sleep(0.15)


async def test_what_can_not_be_measured_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "SHARE", 0)
    question = Question()
    sampled = Sampled(question, AT_ONCE)
    await sampled.read()
    question.fails = True

    assert await sampled.read() is None
