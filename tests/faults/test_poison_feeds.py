"""A feed on which our own code or database fails: it is fetched no more often than others, and delays none."""

import time

import pytest

from feedmill.store.database import Row
from tests.faults.conftest import MakeEnvironment
from tests.faults.fault_environment import FaultEnvironment
from tests.faults.feed_server import POISON
from tests.waiting import until

PAUSE = 1.0


async def test_a_feed_that_makes_our_code_fail_is_fetched_no_more_often_than_others(
    make_environment: MakeEnvironment,
) -> None:
    async with make_environment(feeds=20) as env:
        env.feed_server.poison("/3")

        feed, times, lasted = await _run_with(env, "/3", parser_fails=True)

        assert times <= 2 + lasted / PAUSE
        assert "job.own_failure" in feed["next_fetch_why"]
        assert (feed["last_fetched_at"], feed["consecutive_failures"]) == (None, 0)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_feed_that_the_database_refuses_is_fetched_no_more_often_than_others(
    make_environment: MakeEnvironment, kind: str
) -> None:
    async with make_environment(feeds=20, kind=kind) as env:
        env.feed_server.poison("/3")
        await env.db.exec(f"CREATE UNIQUE INDEX once ON entries (title) WHERE title = '{POISON}'")

        try:
            feed, times, _ = await _run_with(env, "/3")
        finally:
            await env.db.exec("DROP INDEX once")

        assert times == 1
        assert "fetch.not_stored" in feed["next_fetch_why"]
        assert feed["consecutive_failures"] == 1


async def _run_with(env: FaultEnvironment, poisoned: str, **options: bool) -> tuple[Row, int, float]:
    """The poisoned feed, how often it was asked and for how long, while the others were fetched twice."""
    others = [path for path in env.feed_server.paths if path != poisoned]
    started = time.monotonic()

    async def others_are_fetched(times: int) -> None:
        def are_asked() -> bool:
            return {env.feed_server.asked().get(path) for path in others} == {times}

        await until(are_asked, otherwise="the others were delayed")

    await env.make_due()
    process = await env.start(storage_pause=PAUSE, **options)
    await others_are_fetched(1)
    await until(lambda: _are_stored(env, others), otherwise="the others were not stored")
    await env.make_due(others)
    await others_are_fetched(2)
    code = await process.stop()
    lasted = time.monotonic() - started

    [feed] = [feed for feed in await env.feeds() if feed["url"].endswith(poisoned)]
    asked = env.feed_server.asked()
    assert code == 0
    times = asked.pop(poisoned)
    assert set(asked.values()) == {2}
    assert (feed["entry_count"], feed["etag"]) == (0, None)
    assert await env.claims() == []
    return feed, times, lasted


async def _are_stored(env: FaultEnvironment, paths: list[str]) -> bool:
    return all(feed["last_fetched_at"] for feed in await env.feeds() if feed["url"].endswith(tuple(paths)))
