"""The figures of a day, for results.json."""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from check_run import PassedDay
from day_report import day_tables
from lateness import percentile
from monitor import Monitor, Sample, grown
from readers import Reader, percentiles
from report import Table

from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.feeds.fetch_log_days import drop_log_days, start_of_day

SHARES = (0.5, 0.9, 0.99, 0.999)
MOST_FAILURES = 20
Results = dict[str, Any]


def run_results(options: argparse.Namespace, day: PassedDay, monitor: Monitor, reader: Reader) -> Results:
    totals, samples = monitor.totals(), monitor.samples
    fetched, per_fetch = totals.fetched, max(totals.fetched, 1)
    names = dict.fromkeys(name.removesuffix("_cpu") for s in samples for name in s if name.endswith("_cpu"))
    return {
        "options": {name: str(value) for name, value in vars(options).items()},
        "speed": day.clock.speed,
        "seconds": samples[-1]["seconds"],
        "recorded": totals.kinds,
        "fetched": fetched,
        "late": {str(share): percentile(totals.late, share) for share in SHARES},
        "late_crowded": {str(share): percentile(totals.late_crowded, share) for share in SHARES},
        "kills": day.kills,
        "cpu_ms_per_fetch": {name: grown(samples, f"{name}_cpu") * 1000 / per_fetch for name in names},
        **{f"{name}_per_fetch": grown(samples, name) / per_fetch for name in ("wal_bytes", "wal_records")},
        "wal_full_pages_per_fetch": grown(samples, "wal_full_pages") / per_fetch,
        "pages": percentiles(reader.times),
        "failed_pages": reader.failures[:MOST_FAILURES],
        "dropped_log": None,
    }


def write_results(
    output: Path, title: str, results: Results, samples: Sequence[Sample], about: Sequence[Table]
) -> list[Table]:
    """Adds the tables to the results and writes them; the tables."""
    tables = [*day_tables(title, results, samples), *about]
    results["tables"] = list(map(asdict, tables))
    (output / "results.json").write_text(json.dumps(results, indent=1))
    return tables


async def drop_expired_log(url: str, now: datetime) -> Results:
    """Drops the days of the fetch log that have ended, as if they had expired; nothing else depends on these lines."""
    db = PostgresDatabase(url)
    try:
        started = time.monotonic()
        lines = await drop_log_days(db, start_of_day(now))
        return {"lines": lines, "seconds": time.monotonic() - started}
    finally:
        await db.close()
