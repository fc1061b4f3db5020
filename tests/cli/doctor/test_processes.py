"""Findings about Redis, the processes, late feeds and jobs at a standstill."""

from datetime import timedelta

import pytest

from feedmill.cli.doctor.diagnose import run_check
from feedmill.cli.doctor.findings import CheckContext
from feedmill.coordination.connect_redis import connect
from feedmill.coordination.redis_presence import RedisPresence
from feedmill.errors import DatabaseError
from feedmill.model.timestamps import to_iso
from feedmill.serve.data_lock import lock_data_folder
from feedmill.setting_fields import SecretStr
from feedmill.settings import Settings
from feedmill.store.admin.maintenance_tasks import setting_name
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.instance_state import set_instance_value
from feedmill.store.schema import batches, filter_jobs, filters
from tests.cli.doctor.findings_of import NOW, assert_is_written, findings_of, insert, is_error, is_warning
from tests.services.server import Service, free_port

LONG_AGO = NOW - timedelta(days=3)


async def test_without_redis_the_server_of_the_folder_is_looked_for(settings: Settings, db: Database) -> None:
    alone = await findings_of(settings)
    with lock_data_folder(settings.data):
        served = await findings_of(settings)

    assert {"redis_unused", "server_not_running"} <= alone.keys()
    assert "server_running" in served


async def test_a_redis_that_does_not_answer_is_an_error(settings: Settings) -> None:
    redis = SecretStr(f"redis://127.0.0.1:{free_port()}/0")

    assert is_error(await findings_of(Settings(data=settings.data, redis=redis)), "redis_unusable", "redis-cli")


async def test_missing_processes_are_errors_and_running_ones_are_named(
    settings: Settings, redis_service: Service
) -> None:
    scaled_out = Settings(data=settings.data, redis=SecretStr(redis_service.url))
    async with connect(redis_service.url) as client:
        await client.flushdb()
        nothing = await findings_of(scaled_out)
        await RedisPresence(client).announce("api", "zero")
        without = await findings_of(scaled_out)
        await RedisPresence(client).announce("worker", "one")
        await RedisPresence(client).announce("scheduler", "two")
        running = await findings_of(scaled_out)
        await client.flushdb()

    assert is_warning(nothing, "no_process", "feedmill worker")
    assert not {"no_worker", "no_scheduler"} & nothing.keys()
    assert is_error(without, "no_worker", "feedmill worker")
    assert is_error(without, "no_scheduler", "feedmill scheduler")
    assert {"redis_ok", "processes_running"} <= running.keys()
    assert not {"no_worker", "no_scheduler"} & running.keys()


async def test_a_redis_that_deletes_keys_is_a_warning(settings: Settings, redis_service: Service) -> None:
    scaled_out = Settings(data=settings.data, redis=SecretStr(redis_service.url))
    async with connect(redis_service.url) as client:
        await client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            found = await findings_of(scaled_out)
        finally:
            await client.config_set("maxmemory-policy", "noeviction")

    assert is_warning(found, "redis_evicts", "allkeys-lru", "noeviction")


async def test_feeds_that_wait_are_a_warning_with_what_helps_here(
    settings: Settings, db: Database, redis_service: Service
) -> None:
    await add_feed(db, "https://example.org/feed", NOW - timedelta(minutes=20))
    alone = await findings_of(settings)
    with lock_data_folder(settings.data):
        served = await findings_of(settings)
    scaled_out = await findings_of(Settings(data=settings.data, redis=SecretStr(redis_service.url)))

    assert is_warning(alone, "feeds_late", "1 feed", "20 min", "feedmill refresh --due")
    assert is_warning(served, "feeds_late", "fetches_at_once")
    assert is_warning(scaled_out, "feeds_late", "feedmill worker")


async def test_jobs_at_a_standstill_are_warnings(settings: Settings, db: Database) -> None:
    await insert(db, batches, token="t", kind="refresh", created_at=LONG_AGO, heartbeat_at=LONG_AGO)
    await insert(db, filters, id=1, user_id=1, name="f", query="q", actions="[]", created_at=NOW)
    await insert(db, filter_jobs, user_id=1, filter_id=1, kind="apply", status="failed", created_at=NOW)
    await set_instance_value(db, setting_name("purge"), to_iso(LONG_AGO))

    found = await findings_of(settings)

    assert is_warning(found, "batches_abandoned", "1 batch")
    assert is_warning(found, "filter_jobs_failed", "feedmill filter apply")
    assert is_warning(found, "maintenance_late", "purge")


@pytest.mark.parametrize(("problem", "code"), [(TimeoutError(), "no_answer"), (DatabaseError("gone"), "failed")])
async def test_a_check_that_fails_is_a_finding_and_the_others_go_on(
    settings: Settings, problem: Exception, code: str
) -> None:
    async def check(context: CheckContext):  # type: ignore[no-untyped-def]
        raise problem
        yield

    [finding] = await run_check(check, CheckContext(settings, NOW, None))

    assert_is_written(finding)
    assert finding.code == code
