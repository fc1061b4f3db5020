"""A feed whose host is paused is deferred, and no fetch is recorded."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from feedmill.coordination.memory import MemoryHostSlots
from feedmill.model.refresh import Failed, Postponed
from feedmill.outbound.client import Client
from feedmill.outbound.host_pacing import Pacer
from feedmill.store.schema import fetch_log
from tests.flows.conftest import PATIENT
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.outbound.conftest import LoopbackIsPublic
from tests.scripted_web import Answer, ScriptedResolver

SOON = timedelta(minutes=5)


@pytest.fixture
async def paced(env: RefreshEnvironment) -> AsyncIterator[RefreshEnvironment]:
    """The world with loopback taken for the public Internet, where hosts have turns and pauses."""
    pacer = Pacer(MemoryHostSlots(), gap=timedelta())
    async with Client(pacer, LoopbackIsPublic(), "feedmill-test", PATIENT, resolver=ScriptedResolver()) as client:
        env.client = client
        env.build_tools()
        yield env


async def test_a_429_pauses_every_feed_of_its_domain_without_blaming_them(paced: RefreshEnvironment) -> None:
    throttled = await paced.add("/throttled", Answer(status=429, headers={"Retry-After": "3600"}))
    other = await paced.add("/other", answer(item("a")))

    first, second = await paced.refresh(throttled), await paced.refresh(other)

    assert isinstance(first, Failed)
    assert isinstance(second, Postponed)
    after = await paced.feed(other)
    assert (after.last_fetched_at, after.consecutive_failures, after.claimed_until) == (None, 0, None)
    assert after.next_fetch_at is not None
    assert abs(after.next_fetch_at - datetime.now(UTC) - HOUR) < SOON
    assert [row["feed_id"] for row in await paced.rows(fetch_log)] == [throttled.id]
    assert not paced.web.seen("/other")


async def test_a_503_pauses_its_own_url_alone(paced: RefreshEnvironment) -> None:
    busy = await paced.add("/busy", Answer(status=503, headers={"Retry-After": "3600"}))
    other = await paced.add("/other", answer(item("a")))

    await paced.refresh(busy)
    await paced.refresh(other)
    again = await paced.refresh(busy)

    assert await paced.titles() == ["a"]
    assert isinstance(again, Postponed)
    assert len(paced.web.seen("/busy")) == 1
