"""A worker process as other programs see it: its results, its locks, and old messages."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from feedmill.app import build_app
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.coordination.locks import feed_lock
from feedmill.coordination.pool_queues import pool_list_name
from feedmill.coordination.redis_presence import RedisPresence
from feedmill.engine.celery_app import make_celery
from feedmill.library.jobs.start_refresh import start_first_fetches
from feedmill.library.subscriptions.subscribe import SubscribeRequest, subscribe
from feedmill.model.batch import REFRESH_ALL
from feedmill.model.pool import PoolKind, PoolRule
from feedmill.open_pools import open_pools
from feedmill.run.distributed import open_distributed
from feedmill.settings import load_settings
from feedmill.store.schema import batch_jobs, batches, image_tasks
from feedmill.store.users.users import user_of_name
from tests.faults.scaled_out_installation import ScaledOutInstallation, scaled_out
from tests.flows.refresh_environment import answer, item
from tests.services.server import Service
from tests.waiting import until

KEPT_FOR = 24 * 3600


@pytest.fixture
async def scaled(tmp_path: Path, postgres_service: Service) -> AsyncIterator[ScaledOutInstallation]:
    async with scaled_out(tmp_path, postgres_service.url, feeds=4) as made:
        await made.start("worker", lease=60, visibility=60)
        yield made


async def _result(scaled: ScaledOutInstallation, job_id: str) -> dict[str, Any]:
    """The result under the job's id, once it is there."""
    key = f"celery-task-meta-{job_id}"

    async def is_there() -> bool:
        return bool(await scaled.client.exists(key))

    await until(is_there, otherwise="there is no result")
    kept = json.loads(await scaled.client.get(key))
    assert KEPT_FOR - 60 < await scaled.client.ttl(key) <= KEPT_FOR
    assert kept["status"] == "SUCCESS"
    result: dict[str, Any] = kept["result"]
    return result


async def _refresh(scaled: ScaledOutInstallation, feed_id: int, **more: Any) -> dict[str, Any]:
    return await _result(scaled, await scaled.send("refresh_feed", feed_id=feed_id, **more))


async def _ids(scaled: ScaledOutInstallation) -> list[int]:
    return [feed["id"] for feed in await scaled.env.feeds()]


async def test_the_result_of_a_refresh_has_the_number_of_articles(scaled: ScaledOutInstallation) -> None:
    [feed_id, *_] = await _ids(scaled)

    result = await _refresh(scaled, feed_id)

    assert result.pop("duration_ms") >= 0
    assert result == {"success": True, "feed_id": feed_id, "article_count": 3}


async def test_the_result_of_a_failed_feed_has_its_error(scaled: ScaledOutInstallation) -> None:
    [feed_id, *_] = await _ids(scaled)
    scaled.env.feed_server.web.serve(scaled.env.feed_server.paths[0], b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")

    result = await _refresh(scaled, feed_id)

    assert (result["success"], result["feed_id"]) == (False, feed_id)
    assert "404" in result["error"]


async def test_a_deleted_feed_is_skipped(scaled: ScaledOutInstallation) -> None:
    result = await _refresh(scaled, 999_999)

    assert result == {"success": True, "feed_id": 999_999, "skipped": True, "reason": "feed_deleted"}


async def test_a_feed_that_is_being_fetched_is_locked_by_its_job(scaled: ScaledOutInstallation) -> None:
    [feed_id, *_] = await _ids(scaled)
    with scaled.env.feed_server.held():
        job_id = await scaled.send("refresh_feed", feed_id=feed_id)
        await _until_asked(scaled, 1)

        holder, left = await scaled.client.get(feed_lock(feed_id)), await scaled.client.ttl(feed_lock(feed_id))
        second = await _refresh(scaled, feed_id)

    assert (holder, 120 < left <= 180) == (job_id, True)
    assert second == {"success": True, "feed_id": feed_id, "skipped": True, "reason": "already_running"}
    await _result(scaled, job_id)
    assert await scaled.client.get(feed_lock(feed_id)) is None


async def test_a_lock_left_by_a_killed_worker_blocks_no_job(scaled: ScaledOutInstallation) -> None:
    [feed_id, *_] = await _ids(scaled)
    await scaled.client.set(feed_lock(feed_id), "a job that is dead", ex=180)

    result = await _refresh(scaled, feed_id)

    assert result["article_count"] == 3
    assert await scaled.client.get(feed_lock(feed_id)) == "a job that is dead"


async def test_a_chunk_whose_claims_were_lost_is_skipped(scaled: ScaledOutInstallation) -> None:
    feeds = {"": await _ids(scaled)}

    result = await _result(scaled, await scaled.send("refresh_feed_batch", feeds=feeds, token="somebody's"))

    assert (result["success"], result["feeds"], result["skipped"]) == (True, 4, 4)
    assert scaled.env.feed_server.requests == 0


async def test_a_batch_with_feeds_that_fail_or_are_gone_calls_back_once_and_has_its_images_archived(
    scaled: ScaledOutInstallation,
) -> None:
    scaled.env.feed_server.web.serve(scaled.env.feed_server.paths[0], b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
    asked = await scaled.send("schedule_user_batch_refresh", feed_ids=await _ids(scaled), user_id=1)
    result = await _result(scaled, asked)

    async def has_ended() -> bool:
        return (await scaled.env.batches())[0]["status"] == "done"

    async def images_were_tried() -> bool:
        return all(row["attempts"] for row in await scaled.env.db.query(select(image_tasks)))

    await until(has_ended, otherwise="the batch has not ended")
    await until(images_were_tried, otherwise="nobody tried the images")

    outcomes = await scaled.env.db.query(select(batch_jobs.c.outcome).order_by(batch_jobs.c.feed_id))
    assert (result["success"], result["is_new"]) == (True, True)
    assert [row["outcome"] for row in outcomes] == ["failed", "updated", "updated", "updated"]
    [row] = await scaled.env.db.query(select(batches.c.id, batches.c.kind))
    assert (row["id"], row["kind"]) == (result["batch_id"], REFRESH_ALL)


async def test_a_worker_archives_the_images_of_a_feed_that_is_added_elsewhere(scaled: ScaledOutInstallation) -> None:
    alice = await user_of_name(scaled.env.db, "alice")
    assert alice is not None
    url = scaled.env.feed_server.web.serve("/new", answer(item("a", '<img src="/a.png">')))
    async with build_app(load_settings(**scaled.env.settings)) as app, open_distributed(app) as api:
        added = await subscribe(app.tools, alice, SubscribeRequest(url), ResponseCache())
        await start_first_fetches(api.batches, alice.id, [added])

    async def images_were_tried() -> bool:
        return all(row["attempts"] for row in await scaled.env.db.query(select(image_tasks)))

    await until(images_were_tried, otherwise="nobody tried the images")
    assert len(await scaled.env.db.query(select(image_tasks))) == 1


async def test_pools_are_gathered_and_filled_on_request(scaled: ScaledOutInstallation) -> None:
    [feed_id, *_] = await _ids(scaled)
    async with open_pools(load_settings(redis=scaled.redis.service.url), scaled.env.db) as pools:
        await _refresh(scaled, feed_id)
        group = await pools.create("all", PoolRule())

    result = await _result(scaled, await scaled.send("fill_pools"))

    assert result == {"success": True}
    assert await scaled.client.llen(pool_list_name(PoolKind.TITLES, group.id)) == 3


async def test_a_worker_is_present_while_it_works_and_not_after_it_has_ended(scaled: ScaledOutInstallation) -> None:
    presence = RedisPresence(scaled.client)

    second = await scaled.start("worker")

    async def both_are_seen() -> bool:
        return await presence.count_by_role() == {"worker": 2}

    await until(both_are_seen, otherwise="nobody sees the workers")
    await second.stop()

    assert await presence.count_by_role() == {"worker": 1}


async def test_workers_on_one_machine_have_different_names(scaled: ScaledOutInstallation) -> None:
    await scaled.start("worker")
    control = make_celery(scaled.redis.service.url).control

    async def both_answer() -> bool:
        return len({name for reply in control.ping(timeout=5, limit=2) for name in reply}) == 2

    await until(both_answer, otherwise="they answer to the same name")


async def test_log_lines_of_a_worker_have_the_ids_of_job_and_feed(
    tmp_path: Path, scaled: ScaledOutInstallation
) -> None:
    job_id = await scaled.send("refresh_feed", feed_id=999_999)
    await _result(scaled, job_id)

    [said] = [line for line in _lines(tmp_path) if line["event"] == "refresh_skipped"]

    assert (said["job_id"], said["feed_id"], said["job"]) == (job_id, 999_999, "RefreshFeed")


async def test_a_chunk_that_fails_is_logged_with_the_id_of_its_job(
    tmp_path: Path, scaled: ScaledOutInstallation
) -> None:
    await scaled.env.db.exec("ALTER TABLE feeds RENAME TO feeds_away")
    try:
        job_id = await scaled.send("refresh_feed_batch", feeds={"": [1]}, token="a claim")
        assert not (await _result(scaled, job_id))["success"]
    finally:
        await scaled.env.db.exec("ALTER TABLE feeds_away RENAME TO feeds")

    [said] = [line for line in _lines(tmp_path) if line["event"] == "refresh_chunk_abandoned"]

    assert said["job_id"] == job_id


def _lines(folder: Path) -> list[dict[str, Any]]:
    """What the worker logged."""
    return [json.loads(line) for line in (folder / "process-0.log").read_text().splitlines() if line.startswith("{")]


async def test_a_job_is_retried_when_our_database_did_not_respond(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=1) as scaled:
        await scaled.start("worker", lease=60, visibility=60)
        [feed_id] = await _ids(scaled)
        await scaled.env.db.exec("ALTER TABLE feeds RENAME TO feeds_away")
        try:
            job_id = await scaled.send("refresh_feed", feed_id=feed_id)
            await _until_status(scaled, job_id, "RETRY", "it was not tried while the table was away")
        finally:
            await scaled.env.db.exec("ALTER TABLE feeds_away RENAME TO feeds")

        result = await _result_in_the_end(scaled, job_id)

        assert result["article_count"] == 3


async def _result_in_the_end(scaled: ScaledOutInstallation, job_id: str) -> dict[str, Any]:
    await _until_status(scaled, job_id, "SUCCESS", "it was not tried again")
    return await _result(scaled, job_id)


async def _until_status(scaled: ScaledOutInstallation, job_id: str, status: str, otherwise: str) -> None:
    async def has_status() -> bool:
        kept = await scaled.client.get(f"celery-task-meta-{job_id}")
        return bool(kept) and json.loads(kept)["status"] == status

    await until(has_status, otherwise=otherwise)


async def _until_asked(scaled: ScaledOutInstallation, requests: int) -> None:
    async def was_asked() -> bool:
        return scaled.env.feed_server.requests >= requests

    await until(was_asked, otherwise="nobody asked")
