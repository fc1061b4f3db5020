"""Redis is down or hangs while users request refreshes: each gets a response, and nothing stays claimed."""

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
from tests.faults.processes import FeedmillProcess
from tests.faults.scaled_out_installation import ScaledOutInstallation, scaled_out
from tests.services.server import Service
from tests.waiting import until

pytestmark = pytest.mark.timeout(240)

# It is three seconds on an idle machine; without limits a Redis that hangs is waited for without end.
RESPONSE_WITHIN = 30.0
CRASHES = ("Unrecoverable error", "Error on stopping")
OUTAGE_EVENTS = {
    "outage_began",
    "outage_ended",
    "worker_scans_by_itself",
    "worker_takes_messages_again",
    "consumer_restarted",
}
Outage = Callable[[ScaledOutInstallation], AbstractContextManager[None]]
OPML = '<opml version="2.0"><body><outline type="rss" text="New" xmlUrl="{url}"/></body></opml>'


@contextmanager
def stopped(scaled: ScaledOutInstallation) -> Iterator[None]:
    scaled.redis.stop()
    try:
        yield
    finally:
        scaled.redis.start()


@contextmanager
def hanging(scaled: ScaledOutInstallation) -> Iterator[None]:
    with scaled.redis.frozen():
        yield


DOWN = pytest.mark.parametrize("outage", [stopped, hanging])


@DOWN
async def test_a_refresh_request_without_redis_answers_and_leaves_no_claim(
    tmp_path: Path, postgres_service: Service, outage: Outage
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled, running_api(scaled) as api:
        subscriptions = (await api.alice.get("/feeds")).json()["items"]
        first, second = subscriptions[0], subscriptions[1]
        list_of_feeds = OPML.format(url=scaled.env.feed_server.web.url("/new"))
        asks = [
            ("/feeds/refresh-all", {"json": {}}),
            (f"/feeds/{first['id']}/refresh", {}),
            ("/queue/schedule-feed", {"json": {"feed_id": second["feed_id"], "force_immediate": True}}),
            ("/feeds/import", {"content": list_of_feeds}),
        ]

        with outage(scaled):
            for path, sent in asks:
                started = time.monotonic()
                response = await api.alice.post(path, **sent)  # type: ignore[arg-type]

                assert response.status_code in (200, 202), response.text
                assert time.monotonic() - started < RESPONSE_WITHIN, path
                assert await scaled.env.claims() == []
            jobs = (await api.alice.get("/jobs")).json()["items"]

    assert [job["waiting"] for job in jobs] == [True] * 4


@DOWN
async def test_a_batch_whose_messages_cannot_be_sent_keeps_no_claim_and_can_be_resumed(
    tmp_path: Path, postgres_service: Service, outage: Outage
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=30) as scaled, running_api(scaled) as api:
        ids = [feed["id"] for feed in await scaled.env.feeds()]
        # The broker answered a moment ago, and is gone when the messages are sent.
        batches = replace(api.out.batches, can_send=always_true)

        with outage(scaled):
            batch_id, _ = await batches.refresh("refresh_all", ids)
            claims = await scaled.env.claims()

        assert claims == []
        assert await batches.resume() == [batch_id]


async def test_whatever_stops_the_sender_its_claims_are_released(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=30) as scaled, running_api(scaled) as api:
        ids = [feed["id"] for feed in await scaled.env.feeds()]
        batches = replace(api.out.batches, can_send=always_true)

        with scaled.redis.frozen():
            asking = asyncio.create_task(batches.refresh("refresh_all", ids))
            await until(lambda: _are_claimed(scaled, len(ids)), otherwise="nothing was claimed")
            asking.cancel()
            await asyncio.wait([asking])

        assert await scaled.env.claims() == []


async def test_a_job_requested_while_redis_is_down_runs_when_redis_is_back(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled, running_api(scaled) as api:
        with stopped(scaled):
            await api.alice.post("/feeds/refresh-all", json={})
        for role in ("scheduler", "worker"):
            await scaled.start(role, lease=60)

        await scaled.env.until_batches_end()

        assert {job["outcome"] for job in await scaled.env.batch_jobs()} == {"updated"}
        assert set(scaled.env.feed_server.asked().values()) == {1}


async def test_a_job_requested_while_redis_is_down_is_run_by_a_worker_that_scans_by_itself(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled, running_api(scaled) as api:
        await scaled.start("worker", lease=60)
        with stopped(scaled):
            await api.alice.post("/feeds/refresh-all", json={})

            await scaled.env.until_batches_end()

        assert {job["outcome"] for job in await scaled.env.batch_jobs()} == {"updated"}


async def test_the_sender_reports_within_seconds_that_it_cannot_send(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=1) as scaled, running_api(scaled) as api:
        with scaled.redis.frozen():
            started = time.monotonic()
            with pytest.raises(EngineUnavailable):
                await api.out.sender.engine.send_task("scan_due_feeds")

    assert time.monotonic() - started < RESPONSE_WITHIN


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


async def _are_claimed(scaled: ScaledOutInstallation, count: int) -> bool:
    return len(await scaled.env.claims()) == count


async def test_what_processes_log_of_an_outage_of_redis_is_json_and_short(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=40) as scaled:
        processes = [await scaled.start(role) for role in ("scheduler", "worker")]
        await scaled.env.make_due()
        await scaled.env.until_done()
        with stopped(scaled):
            await scaled.env.make_due()
            await scaled.env.until_done(60)
            await until(lambda: _have_logged(processes, "outage_began"), otherwise="the outage was not logged")
        await until(lambda: _have_logged(processes, "outage_ended"), otherwise="the end of the outage was not logged")

    for process in processes:
        lines = [json.loads(line) for line in process.logged_text().splitlines()]
        # Celery's consumer sometimes breaks over a lost connection; then it says so once, and is begun anew.
        lines = [line for line in lines if not line["event"].startswith(CRASHES)]
        loud = Counter(line["event"] for line in lines if line["level"] not in ("debug", "info"))
        assert set(loud) <= OUTAGE_EVENTS, loud
        assert loud["outage_began"] == loud["outage_ended"] <= 2
        assert not any("exception" in line for line in lines)


async def _have_logged(processes: list[FeedmillProcess], event: str) -> bool:
    return all(f'"event": "{event}"' in process.logged_text() for process in processes)
