"""The settings of PostgreSQL during a day, and a table of how the day was measured."""

import argparse
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
from feed_profiles import BIG_HOST_FEEDS
from report import Cell, Table

from tests.services.postgres import find_program

# The shortest that PostgreSQL takes, in seconds, and the highest limit of the cost of a vacuum.
SHORTEST_CHECKPOINT_TIMEOUT, HIGHEST_COST_LIMIT = 30, 10_000
CHECKPOINT_TIMEOUT, COST_LIMIT, NAPTIME = 1800, 200, 60
ALSO_SHOWN = ("fsync", "synchronous_commit", "full_page_writes")


def day_settings(data: Path, speed: float) -> list[str]:
    """What docs/running/scale.md recommends, with all that is real time divided by the speed of the clock.

    Otherwise a checkpoint would come once in half a simulated day, and a fetch would seldom be the first to change its
    page. The limit of the cost of a vacuum is how much it may do between two sleeps of a fixed real length, so it is
    raised in proportion: a vacuum may do as much in a simulated hour as it may in an hour.
    """
    return [
        "shared_buffers=2GB",
        "effective_cache_size=8GB",
        "max_wal_size=16GB",
        f"checkpoint_timeout={max(round(CHECKPOINT_TIMEOUT / speed), SHORTEST_CHECKPOINT_TIMEOUT)}s",
        f"wal_compression={'lz4' if _has_lz4(data) else 'pglz'}",
        f"autovacuum_naptime={max(round(NAPTIME / speed), 1)}s",
        f"autovacuum_vacuum_cost_limit={min(round(COST_LIMIT * max(speed, 1)), HIGHEST_COST_LIMIT)}",
    ]


def _has_lz4(data: Path) -> bool:
    """Whether this PostgreSQL was built with it: else it rejects the value. `data` is any folder of its data."""
    asked = [find_program("postgres"), "-C", "wal_compression", "-D", str(data), "-c", "wal_compression=lz4"]
    return subprocess.run(asked, capture_output=True).returncode == 0


async def settings_table(url: str, options: argparse.Namespace, speed: float, settings: Sequence[str]) -> Table:
    one = await asyncpg.connect(url)
    try:
        version = (await one.fetchval("SHOW server_version")).partition(" ")[0]
        names = [*(setting.partition("=")[0] for setting in settings), *ALSO_SHOWN]
        shown = [[name, await one.fetchval(f"SHOW {name}")] for name in names]
    finally:
        await one.close()
    rows: list[list[Cell]] = [
        ["a simulated second", f"{1000 / speed:.1f} ms of real time: {speed:.1f} times the speed"],
        ["fetches", f"{options.workers} processes, {'Celery' if options.engine == 'celery' else 'embedded'}"],
        ["cores, shared by everything", os.cpu_count() or ""],
        ["PostgreSQL", version],
        *shown,
    ]
    return Table("Settings", ["", ""], rows, notes=_notes(options))


def _notes(options: Any) -> list[str]:
    notes = [
        "The web is in the memory of each process, so requests and TLS are not part of it; what servers take, and the "
        "pause between two requests to a host, pass in simulated time.",
        f"The crowded host has a twentieth of the feeds, at most {BIG_HOST_FEEDS:,}. It takes one request a second, so "
        "its feeds wait for their turn by design; how late they are counts from when they were due first.",
    ]
    if options.engine == "embedded" and options.workers > 1:
        notes.append("Each process keeps its own pace at a host, as two `feedmill serve` would.")
    return notes
