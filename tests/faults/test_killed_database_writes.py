"""A process killed in the middle of a batch leaves all of it or nothing, on each of the four databases."""

import multiprocessing
import random
import sqlite3
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select

from feedmill.store.database import Database
from feedmill.store.schema import object_garbage
from tests.databases import emptied, settings_of
from tests.faults.batch_writer import ROWS_PER_STEP, STEPS, run_and_kill_writers

KILLS = 50
LONGEST_RUN = 0.12

COUNT = select(object_garbage.c.recorded_at.label("batch"), func.count().label("rows_kept")).group_by(
    object_garbage.c.recorded_at
)


@pytest.fixture(scope="module")
def writer_starter() -> Iterator[Executor]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(params=["sqlite", "postgresql", "mariadb", "d1"])
async def reached(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Database, dict[str, str]]]:
    """A database, and the settings with which another process reaches it."""
    async with emptied(request, request.param, tmp_path) as database:
        yield database, settings_of(request, request.param, tmp_path)


async def test_fifty_kills_leave_all_or_nothing_of_each_batch(
    reached: tuple[Database, dict[str, str]], writer_starter: Executor
) -> None:
    db, settings = reached
    chance = random.Random(20260218)

    runs = writer_starter.submit(
        run_and_kill_writers, settings, [chance.uniform(0, LONGEST_RUN) for _ in range(KILLS)]
    ).result()

    kept = {row["batch"]: row["rows_kept"] for row in await db.query(COUNT)}
    assert set(kept.values()) <= {STEPS * ROWS_PER_STEP}
    assert {name for messages in runs for what, name in messages if what == "done"} <= kept.keys()
    assert sum(messages[-1][0] == "begun" for messages in runs) > KILLS / 2, (
        "too few were killed in the middle of a batch"
    )


async def test_a_sqlite_file_is_sound_after_each_kill(
    tmp_path: Path, request: pytest.FixtureRequest, writer_starter: Executor
) -> None:
    settings = settings_of(request, "sqlite", tmp_path)
    async with emptied(request, "sqlite", tmp_path):
        pass

    for number in range(10):
        writer_starter.submit(run_and_kill_writers, settings, [0.03], number).result()
        assert _integrity(tmp_path / "feedmill.db") == "ok"


def _integrity(path: Path) -> str:
    connection = sqlite3.connect(path)
    try:
        [answer] = connection.execute("PRAGMA integrity_check").fetchone()
        return str(answer)
    finally:
        connection.close()
