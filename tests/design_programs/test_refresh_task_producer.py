"""A producer of the second design document's tasks and a worker of ours understand each other."""

import ast
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from feedmill.store.schema import image_tasks
from tests.faults.scaled_out_installation import ScaledOutInstallation, scaled_out
from tests.services.server import Service
from tests.waiting import until

HERE = Path(__file__).parent
NOT_FOUND = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
DAY = 24 * 3600
SUCCESS = {"success", "feed_id", "article_count", "duration_ms"}
FAILURE = {"success", "feed_id", "error", "duration_ms"}


@pytest.fixture
async def scaled(tmp_path: Path, postgres_service: Service) -> AsyncIterator[ScaledOutInstallation]:
    async with scaled_out(tmp_path, postgres_service.url, feeds=7) as made:
        await made.start("worker", lease=60, visibility=60)
        yield made


async def produce(scaled: ScaledOutInstallation, feeds: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Runs the producer in its own process; what it got for each call."""
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        HERE / "refresh_task_producer.py",
        scaled.redis.service.url,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await asyncio.wait_for(program.communicate(json.dumps(feeds).encode()), 120)
    assert program.returncode == 0
    return {line["call"]: line for line in map(json.loads, printed.splitlines())}


async def rows(scaled: ScaledOutInstallation) -> list[dict[str, Any]]:
    """The feeds as a table of the design has them: ids are text."""
    return [
        {"id": str(feed["id"]), "url": feed["url"], "title": "Example Blog", "refresh_interval": 30}
        for feed in await scaled.env.feeds()
    ]


async def test_every_call_of_the_producer_gets_the_result_that_it_reads(scaled: ScaledOutInstallation) -> None:
    new, later, following, again, failing, *batch = await rows(scaled)
    scaled.env.feed_server.web.serve(scaled.env.feed_server.paths[4], NOT_FOUND)
    deleted = new | {"id": "0b5d1c9e-7d43-4c57-9c1b-4f6a1d1f0a11"}
    feeds = {"new_feed": new, "scheduled": later, "next_refresh": following, "retry": again, "failing": failing}

    told = await produce(scaled, feeds | {"deleted": deleted, "batch": batch})

    results = {call: line["result"] for call, line in told.items()}
    for call in ("new_feed", "scheduled", "next_refresh", "retry"):
        assert results[call].keys() == SUCCESS
        assert (results[call]["success"], results[call]["article_count"]) == (True, 3)
        assert results[call]["feed_id"] == feeds[call]["id"]
    assert (results["failing"].keys(), results["failing"]["success"]) == (FAILURE, False)
    assert "404" in results["failing"]["error"]
    gone = {"success": True, "feed_id": deleted["id"], "skipped": True, "reason": "feed_deleted"}
    assert results["deleted"] == gone
    assert [results[call]["success"] for call in ("batch", "images", "scan")] == [True, True, True]
    await _until_batch_and_images_are_done(scaled)
    assert sorted(scaled.env.feed_server.asked().values()) == [1] * 7


async def test_results_are_in_redis_for_a_day_under_the_id_of_the_task(scaled: ScaledOutInstallation) -> None:
    every = await rows(scaled)
    names = ("new_feed", "scheduled", "next_refresh", "retry", "failing", "deleted")

    told = await produce(scaled, dict(zip(names, every, strict=False)) | {"batch": every[6:]})

    for line in told.values():
        assert (line["stored"]["status"], line["stored"]["result"]) == ("SUCCESS", line["result"])
        assert DAY - 120 < line["ttl"] <= DAY


async def _until_batch_and_images_are_done(scaled: ScaledOutInstallation) -> None:
    """The batch of the user calls back when its last feed is done; then the images of all are tried."""
    await scaled.env.until_batches_end()

    async def images_were_tried() -> bool:
        return all(row["attempts"] for row in await scaled.env.db.query(select(image_tasks.c.attempts)))

    await until(images_were_tried, otherwise="nobody tried the images")


def test_the_programs_import_nothing_of_feedmill() -> None:
    programs = [path for path in HERE.glob("*.py") if not path.name.startswith("test_")]
    nodes = [node for path in programs for node in ast.walk(ast.parse(path.read_text()))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}

    assert "celery" in names
    assert {name for name in names if name.split(".")[0] in ("feedmill", "tests")} == set()
