"""The tables of a run: what was fetched and how late, what it took, and how the tables of the database grew."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from monitor import WATCHED
from report import Cell, Table

MB = 1e6


def day_tables(title: str, results: Mapping[str, Any], samples: Sequence[Mapping[str, Any]]) -> list[Table]:
    """`title` says how many hours of how many feeds it was."""
    found = [_fetches(title, results), _processes(results, samples), _growth(samples)]
    if results["pages"]:
        rows: list[list[Cell]] = [[kind, *figures] for kind, figures in results["pages"].items()]
        columns = ["", "times", "p50, ms", "p99, ms"]
        found.append(Table("Pages of a reader during the day", columns, rows, notes=results["failed_pages"][:3]))
    checked: list[list[Cell]] = [[what, count] for what, count in results["checked"].items()]
    return [*found, Table("Checked afterwards", ["", "found"], checked)]


def _fetches(title: str, results: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        ["fetches", results["fetched"]],
        *([f"… {kind.replace('_', ' ')}", count] for kind, count in sorted(results["recorded"].items()) if count),
        ["fetches a real second", results["fetched"] / max(results["seconds"], 1)],
        *(
            [f"late, p{float(share) * 100:g}, simulated seconds", value or 0]
            for share, value in results["late"].items()
        ),
        ["real seconds until all that was due at the end was fetched", results["caught_up_after"]],
        ["write-ahead log, bytes a fetch", results["wal_bytes_per_fetch"]],
        *([["workers killed", results["kills"]]] if results["kills"] else []),
    ]
    return Table(title, ["", ""], rows)


def _processes(results: Mapping[str, Any], samples: Sequence[Mapping[str, Any]]) -> Table:
    """CPU time with everything that a process did meanwhile, also for the reader; memory at most."""
    rows: list[list[Cell]] = []
    for name, ms in results["cpu_ms_per_fetch"].items():
        memory = max((sample.get(f"{name}_memory") or 0 for sample in samples), default=0)
        rows.append([name, ms, ms * results["fetched"] / 1000 / max(results["seconds"], 1), memory / MB])
    if redis := max((sample.get("redis_memory") or 0 for sample in samples), default=0):
        rows.append(["Redis", "", "", redis / MB])
    return Table("Processes", ["", "CPU ms a fetch", "cores", "memory at most, MB"], rows)


def _growth(samples: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    first, last = samples[0], samples[-1]
    for table in WATCHED:
        if last.get(f"{table}_size") is not None:
            sizes: list[Cell] = [
                each.get(f"{table}_{part}", 0) / MB for part in ("size", "indexes") for each in (first, last)
            ]
            dead = max(sample.get(f"{table}_dead") or 0 for sample in samples)
            hot, updates = (grown(samples, f"{table}_{name}") for name in ("hot", "updates"))
            share: Cell = f"{hot / updates:.0%}" if updates else ""
            rows.append([table, *sizes, int(dead), int(grown(samples, f"{table}_vacuums")), share])
    columns = ["", "rows, MB", "at the end", "indexes, MB", "at the end", "dead rows at most", "vacuums", "HOT updates"]
    return Table("Tables", columns, rows)


def grown(samples: Sequence[Mapping[str, Any]], name: str) -> float:
    """By how much a counter grew. One that begins again is that of another server."""
    values = [float(sample[name] or 0) for sample in samples if name in sample]
    return sum(max(later - earlier, 0) for earlier, later in pairwise(values))
