"""The tables of a run: what was fetched and how late, what it took, and how the tables of the database grew."""

from collections.abc import Mapping, Sequence
from typing import Any

from monitor import WATCHED, grown
from readers import goal_of
from report import Cell, Table

MB = 1e6


def day_tables(title: str, results: Mapping[str, Any], samples: Sequence[Mapping[str, Any]]) -> list[Table]:
    """`title` says how many hours of how many feeds it was."""
    found = [_fetches(title, results), _processes(results, samples), _growth(samples)]
    if results["pages"]:
        rows: list[list[Cell]] = [[kind, *figures, goal_of(kind) or ""] for kind, figures in results["pages"].items()]
        columns = ["", "times", "p50, ms", "p99, ms", "goal of p99"]
        found.append(Table("Pages of a reader during the day", columns, rows, notes=results["failed_pages"][:3]))
    checked: list[list[Cell]] = [[what, count] for what, count in results["checked"].items()]
    return [*found, Table("Checked afterwards", ["", "found"], checked)]


def comparison(runs: Sequence[Mapping[str, Any]]) -> Table:
    """Runs with different numbers of processes, side by side: how fast they fetch, and what takes the CPU time."""
    names = dict.fromkeys(name for run in runs for name in run["cpu_ms_per_fetch"] if name != "run")
    shares = {name: [run["cpu_ms_per_fetch"].get(name, 0.0) for run in runs] for name in names}
    per_second = [run["fetched"] / max(run["seconds"], 1) for run in runs]
    rows: list[list[Cell]] = [["fetches a second", *per_second]]
    rows += [[f"CPU ms a fetch, {name}", *values] for name, values in shares.items()]
    rows += [
        [f"cores, {name}", *(ms * rate / 1000 for ms, rate in zip(values, per_second, strict=True))]
        for name, values in shares.items()
    ]
    counts = [int(run["options"]["workers"]) for run in runs]
    columns = ["processes that fetch", *(str(count) for count in counts)]
    return Table("Fetching as fast as the machine allows", columns, rows)


def _fetches(title: str, results: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        ["fetches", results["fetched"]],
        *([f"… {kind.replace('_', ' ')}", count] for kind, count in sorted(results["recorded"].items()) if count),
        ["fetches a real second", results["fetched"] / max(results["seconds"], 1)],
        *_lateness("late", results["late"]),
        *_lateness("late at the crowded host", results["late_crowded"]),
        ["real seconds until all that was due at the end was fetched", results["caught_up_after"]],
        ["write-ahead log, bytes a fetch", results["wal_bytes_per_fetch"]],
        ["… records", results["wal_records_per_fetch"]],
        ["… images of pages", results["wal_full_pages_per_fetch"]],
        *([["workers killed", results["kills"]]] if results["kills"] else []),
        *_dropped_log(results["dropped_log"]),
    ]
    return Table(title, ["", ""], rows)


def _lateness(name: str, late: Mapping[str, float | None]) -> list[list[Cell]]:
    return [
        [f"{name}, p{float(share) * 100:g}, simulated seconds", value]
        for share, value in late.items()
        if value is not None
    ]


def _dropped_log(dropped: Mapping[str, float] | None) -> list[list[Cell]]:
    if not dropped or not dropped["lines"]:
        return []
    return [
        ["lines of the fetch log of the days that ended", dropped["lines"]],
        ["… real ms to count and drop them", dropped["seconds"] * 1000],
    ]


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
    first, last = samples[0], samples[-1]
    whole = "database_bytes"
    rows: list[list[Cell]] = [["whole database", first[whole] / MB, last[whole] / MB, "", "", "", "", ""]]
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
