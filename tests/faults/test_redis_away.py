"""Redis is gone, or hangs, while people ask for refreshes: each gets an answer, and nothing stays claimed."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from feedmill.errors import EngineUnavailable
from feedmill.run.batches import always_true
from tests.faults.api import Api, running_api
from tests.faults.mills import Mill
from tests.faults.scaled import Scaled, scaled_out
from tests.services.server import Service
from tests.waiting import until

pytestmark = pytest.mark.timeout(240)

# It is three seconds on an idle machine; without limits a Redis that hangs is waited for without end.
AN_ANSWER_WITHIN = 30.0
CRASHES = ("Unrecoverable error", "Error on stopping")
OUTAGE_EVENTS = {
    "outage_began",
    "outage_ended",
    "worker_scans_by_itself",
    "worker_takes_messages_again",
    "consumer_restarted",
}
Away = Callable[[Scaled], AbstractContextManager[None]]
OPML = '<opml version="2.0"><body><outline type="rss" text="New" xmlUrl="{url}"/></body></opml>'


@contextmanager
def stopped(scaled: Scaled) -> Iterator[None]:
    scaled.redis.stop()
    try:
        yield
    finally:
        scaled.redis.start()


@contextmanager
def hanging(scaled: Scaled) -> Iterator[None]:
    with scaled.redis.frozen():
        yield


AWAY = pytest.mark.parametrize("away", [stopped, hanging])


@AWAY
async def test_a_refresh_request_without_redis_answers_and_leaves_no_claim(
    tmp_path: Path, postgres_service: Service, away: Away
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled, running_api(scaled) as api:
        subscriptions = (await api.alice.get("/feeds")).json()["items"]
        first, second = subscriptions[0], subscriptions[1]
        list_of_feeds = OPML.format(url=scaled.world.farm.web.url("/new"))
        asks = [
            ("/feeds/refresh-all", {"json": {}}),
            (f"/feeds/{first['id']}/refresh", {}),
            ("/queue/schedule-feed", {"json": {"feed_id": second["feed_id"], "force_immediate": True}}),
            ("/feeds/import", {"content": list_of_feeds}),
        ]

        with away(scaled):
            for path, sent in asks:
                started = time.monotonic()
                response = await api.alice.post(path, **sent)  # type: ignore[arg-type]

                assert response.status_code in (200, 202), response.text
                assert time.monotonic() - started < AN_ANSWER_WITHIN, path
                assert await scaled.world.claims() == []
            jobs = (await api.alice.get("/jobs")).json()["items"]

    assert [job["waiting"] for job in jobs] == [True] * 4


@AWAY
async def test_a_batch_whose_messages_cannot_be_sent_keeps_no_claim_and_can_be_resumed(
    tmp_path: Path, postgres_service: Service, away: Away
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=30) as scaled, running_api(scaled) as api:
        ids = [feed["id"] for feed in await scaled.world.feeds()]
        # The broker answered a moment ago, and is gone when the messages are sent.
        batches = replace(api.out.batches, can_send=always_true)

        with away(scaled):
            batch_id, _ = await batches.refresh("refresh_all", ids)
            claims = await scaled.world.claims()

        assert claims == []
        assert await batches.resume() == [batch_id]


async def test_whatever_stops_the_sender_its_claims_are_released(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=30) as scaled, running_api(scaled) as api:
        ids = [feed["id"] for feed in await scaled.world.feeds()]
        batches = replace(api.out.batches, can_send=always_true)

        with scaled.redis.frozen():
            asking = asyncio.create_task(batches.refresh("refresh_all", ids))
            await until(lambda: _are_claimed(scaled, len(ids)), otherwise="nothing was claimed")
            asking.cancel()
            await asyncio.wait([asking])

        assert await scaled.world.claims() == []


async def test_a_job_asked_for_while_redis_is_away_is_done_when_it_is_back(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled, running_api(scaled) as api:
        with stopped(scaled):
            await api.alice.post("/feeds/refresh-all", json={})
        for role in ("scheduler", "worker"):
            await scaled.start(role)

        await scaled.world.until_batches_end()

        assert {job["outcome"] for job in await scaled.world.batch_jobs()} == {"updated"}
        assert set(scaled.world.farm.asked().values()) == {1}


async def test_a_job_asked_for_while_redis_is_away_is_done_by_a_worker_that_stands_in(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled, running_api(scaled) as api:
        await scaled.start("worker")
        with stopped(scaled):
            await api.alice.post("/feeds/refresh-all", json={})

            await scaled.world.until_batches_end()

        assert {job["outcome"] for job in await scaled.world.batch_jobs()} == {"updated"}


async def test_the_sender_says_that_it_cannot_send_within_seconds(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=1) as scaled, running_api(scaled) as api:
        with scaled.redis.frozen():
            started = time.monotonic()
            with pytest.raises(EngineUnavailable):
                await api.out.sender.engine.send_task("scan_due_feeds")

    assert time.monotonic() - started < AN_ANSWER_WITHIN


async def test_the_api_listens_for_no_result_of_the_jobs_that_it_sent(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=20) as scaled, running_api(scaled) as api:
        await _ask_for_all(api)

        assert await scaled.client.pubsub_channels() == []
        assert await scaled.client.pubsub_numpat() == 0


async def _ask_for_all(api: Api) -> None:
    for feed in (await api.alice.get("/feeds")).json()["items"]:
        response = await api.alice.post(f"/feeds/{feed['id']}/refresh")
        assert response.status_code == 202


async def _are_claimed(scaled: Scaled, count: int) -> bool:
    return len(await scaled.world.claims()) == count


async def test_what_processes_log_of_an_outage_of_redis_is_json_and_short(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=40) as scaled:
        mills = [await scaled.start(role) for role in ("scheduler", "worker")]
        await scaled.world.make_due()
        await scaled.world.until_done(30)
        with stopped(scaled):
            await scaled.world.make_due()
            await scaled.world.until_done(60)
            await until(lambda: _have_logged(mills, "outage_began"), otherwise="nobody said that it began")
        await until(lambda: _have_logged(mills, "outage_ended"), otherwise="nobody said that it is over")

    for mill in mills:
        lines = [json.loads(line) for line in mill.said().splitlines()]
        # Celery's consumer sometimes breaks over a lost connection; then it says so once, and is begun anew.
        lines = [line for line in lines if not line["event"].startswith(CRASHES)]
        loud = Counter(line["event"] for line in lines if line["level"] not in ("debug", "info"))
        assert set(loud) <= OUTAGE_EVENTS, loud
        assert loud["outage_began"] == loud["outage_ended"] <= 2
        assert not any("exception" in line for line in lines)


async def _have_logged(mills: list[Mill], event: str) -> bool:
    return all(f'"event": "{event}"' in mill.said() for mill in mills)
