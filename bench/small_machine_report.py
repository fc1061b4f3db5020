"""The figures of `bench/small_machine.py`: tables for the terminal, and for the page on small machines."""

import platform
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

from report import Cell, Table, as_markdown, report_table
from small_machine_run import FIRST, LATER, PARTS, READING, SmallMachineRun, memory_of_process

PAGE = Path(__file__).resolve().parents[1] / "docs" / "running" / "raspberry-pi.md"
BEGIN, END = "<!-- Figures of bench/small_machine.py --write -->", "<!-- End of the figures -->"
MB = 1_000_000
# Nothing but the interpreter, so that the time of another machine tells how fast it is compared with this one.
SPEED = "python -m timeit -n 20 -u msec 'sum(range(1000000))'"
KINDS = (
    "list",
    "next page",
    "article",
    "mark",
    "search, common word",
    "search, rare word",
    "search, 数据",
    "search, 麒麟",
)
COLUMNS = {"alone": (READING,), "first fetch": (FIRST,), "later": (LATER,), "the rest": PARTS[3:]}


def report(run: SmallMachineRun, cpu_percent: int, memory: int, speed: str) -> list[Table]:
    tables = tables_of(run, f"{memory} MiB, {cpu_percent} % of a core", speed)
    for table in tables:
        report_table(table)
    return tables


def tables_of(run: SmallMachineRun, machine: str, speed: str) -> list[Table]:
    columns = ["ms", *(f"{name}, {share}" for name in COLUMNS for share in ("p50", "p99"))]
    return [
        Table(
            f"{machine}: what each part takes",
            ["", "times", "seconds", "CPU s", "CPU ms each", "written MB", "server MB", "all processes MB"],
            [_part_row(run, name) for name in PARTS],
            "Somebody reads all the time, and the CPU time of their pages is in that of each part; in the first "
            "are the daily tasks, which begin at the start. Written is what the server wrote to the disk. Memory is "
            "resident for the server, and without pages of files for all processes, at most.",
            notes=[f"`{SPEED}`: {speed}."],
        ),
        Table(
            f"{machine}: how long pages take",
            columns,
            [_latency_row(run, kind) for kind in KINDS],
            "The rest is the import, the backup and the purge.",
        ),
        Table(f"{machine}: memory and disk", ["", ""], _totals(run)),
    ]


def _part_row(run: SmallMachineRun, name: str) -> list[Cell]:
    part = run.parts[name]
    each, memory = part.cpu * 1000 / part.done, [part.resident / MB, part.anonymous / MB]
    return [name, f"{part.done:,} {part.unit}", part.seconds, part.cpu, each, part.written / MB, *memory]


def _latency_row(run: SmallMachineRun, kind: str) -> list[Cell]:
    cells: list[Cell] = [kind]
    for parts in COLUMNS.values():
        times = [seconds * 1000 for part in parts for seconds in run.reader.times[part, kind]]
        cells += _percentiles(times) if len(times) > 1 else ["", ""]
    return cells


def _percentiles(times: list[float]) -> list[Cell]:
    cuts = quantiles(times, n=100, method="inclusive")
    return [cuts[49], cuts[98]]


def _totals(run: SmallMachineRun) -> list[list[Cell]]:
    objects = [path.stat().st_size for path in (run.data / "objects").rglob("*") if path.is_file()]
    counted = {name: run.query(f"SELECT count(*) FROM {name}") for name in ("feeds", "entries")}
    archived = run.query("SELECT count(*) FROM image_tasks WHERE status = 'success'")
    return [
        ["feeds", counted["feeds"]],
        ["entries after the purge", counted["entries"]],
        ["pictures archived", archived],
        ["pages read", sum(map(len, run.reader.times.values()))],
        ["peak of the server's resident memory, MB", memory_of_process(run.server.process.pid, "VmHWM") / MB],
        ["peak of the group with pages of files, MB", run.group.peak_memory() / MB],
        ["times at the memory limit", run.group.times_at_limit()],
        ["processes killed for memory", run.group.kills()],
        ["database, MB", (run.data / "feedmill.db").stat().st_size / MB],
        ["largest write-ahead log, MB", run.largest_wal / MB],
        ["objects, MB", sum(objects) / MB],
    ]


def write_page(tables: list[Table]) -> None:
    """Writes the figures into the page, in place of the earlier ones."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    today = f"Measured {datetime.now(UTC):%Y-%m-%d} on Python {platform.python_version()}."
    parts = [today, *(part for table in tables for part in _section(table))]
    PAGE.write_text("\n\n".join([f"{before}{BEGIN}", *parts, f"{END}{after}"]))


def _section(table: Table) -> list[str]:
    figures = as_markdown(table.columns, table.rows)
    return [part for part in (f"### {table.title}", table.about, figures, *table.notes) if part]
