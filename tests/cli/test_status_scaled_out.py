"""`feedmill status` of a scaled-out installation: its processes, which it can't know without Redis."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill.model.timestamps import to_iso
from feedmill.store.admin.instance_overview import count_feeds_by_state
from feedmill.store.database import Step
from feedmill.store.feeds.claims import LEASE
from feedmill.store.schema import feeds
from tests.cli.command import feedmill
from tests.faults.scaled_out_installation import ScaledOutInstallation, scaled_out
from tests.services.server import Service
from tests.waiting import until


@pytest.fixture
async def scaled(tmp_path: Path, postgres_service: Service) -> AsyncIterator[ScaledOutInstallation]:
    async with scaled_out(tmp_path, postgres_service.url, feeds=3) as made:
        yield made


def _status(scaled: ScaledOutInstallation, *options: str) -> str:
    done = feedmill("status", *options, cwd=scaled.env.folder, settings=scaled.env.settings)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


async def test_status_names_the_running_processes(scaled: ScaledOutInstallation) -> None:
    processes = [await scaled.start(role) for role in ("scheduler", "worker", "worker")]

    async def all_are_seen() -> bool:
        return await scaled.client.zcard("feedmill:present") == len(processes)

    await until(all_are_seen, otherwise="nobody sees them")
    told, [record] = _status(scaled), [json.loads(_status(scaled, "--json"))]

    [line] = [line for line in told.splitlines() if line.startswith("processes")]
    assert "1 scheduler (" in line
    assert "2 worker (" in line
    assert all(f":{cli.pid}" in line for cli in processes)
    assert sorted(one["role"] for one in record["processes"]) == ["scheduler", "worker", "worker"]
    assert "none runs" not in told


async def test_status_says_that_it_cannot_know_without_redis(scaled: ScaledOutInstallation) -> None:
    scaled.redis.stop()

    told, record = _status(scaled), json.loads(_status(scaled, "--json"))

    assert "processes unknown: Redis" in told
    assert record["processes"] is None


async def test_a_claim_that_is_not_renewed_is_not_counted_as_running(scaled: ScaledOutInstallation) -> None:
    now = datetime.now(UTC)
    ages = [timedelta(seconds=10), timedelta(seconds=90)]
    for feed, age in zip(await scaled.env.feeds(), ages, strict=False):
        claim = {"claim_token": "token", "claimed_until": to_iso(now + LEASE - age)}
        await scaled.env.db.batch([Step(feeds.update().where(feeds.c.id == feed["id"]).values(**claim))])

    counts = await count_feeds_by_state(scaled.env.db, now)

    assert (counts["running"], counts["unattended"]) == (1, 1)
