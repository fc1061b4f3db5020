"""Results of a benchmark: printed for people, and saved for `make bench`.

A script passes a `Table` to `report_table`. If `BENCH_REPORT` names a file, the table is appended to it as a line of
JSON, from which `bench/all.py` writes `docs/benchmarks.md`.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

Cell = str | float | int


@dataclass(frozen=True)
class Table:
    """Rows of figures; the first cell of each is its name. `bars` is the column to plot, `goal` its target."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    about: str = ""
    bars: str | None = None
    notes: list[str] = field(default_factory=list)


def report_table(table: Table) -> None:
    print(as_text(table), flush=True)
    if path := os.environ.get("BENCH_REPORT"):
        with Path(path).open("a") as file:
            file.write(json.dumps(asdict(table)) + "\n")


def as_text(table: Table) -> str:
    lines = [table.columns, *([format_cell(cell) for cell in row] for row in table.rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(table.columns))]
    rows = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
    return "\n".join(["", table.title, *rows, *table.notes])


def as_markdown(columns: list[str], rows: list[list[Cell]]) -> str:
    head = "| " + " | ".join(columns) + " |\n|---" + "|--:" * (len(columns) - 1) + "|"
    return "\n".join([head, *("| " + " | ".join(map(format_cell, row)) + " |" for row in rows)])


def format_cell(cell: Cell) -> str:
    """A figure with a sensible number of digits."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}"
    return f"{cell:.1f}" if abs(cell) >= 100 else f"{cell:.2f}"
