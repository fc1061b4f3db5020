"""A table fitted to the width of the terminal, with colours."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from feedmill.model.control_characters import replace_control_characters

# The least width of a column that is cut, and the space between two columns.
MIN_COLUMN_WIDTH, COLUMN_GAP = 8, 3
COLOURS = {
    "ok": "green",
    "updated": "green",
    "due": "cyan",
    "new": "cyan",
    "running": "cyan",
    "failing": "yellow",
    "error": "red",
    "failed": "red",
    "disabled": "dim",
    "resting": "dim",
}


def print_fitted(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[str]) -> None:
    console = Console(highlight=False)
    widths = [
        MIN_COLUMN_WIDTH if column in wide else max(cell_len(cell) for cell in (column, *cells))
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True)
    ]
    shown = _count_fitting(widths, console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for column, width in zip(columns[:shown], widths, strict=False):
        fit: dict[str, Any] = {"ratio": 1, "min_width": width} if column in wide else {"width": width}
        table.add_column(column, no_wrap=True, overflow="ellipsis", **fit)
    for row in rows:
        table.add_row(*(_coloured(cell) for cell in row[:shown]))
    console.print(table)


def _count_fitting(widths: Sequence[int], width: int) -> int:
    """How many columns fit into the width; the first are the most important."""
    fitting = [count for count in range(1, len(widths) + 1) if sum(widths[:count]) + COLUMN_GAP * count <= width]
    return max(fitting, default=1)


def _coloured(cell: str) -> str:
    text = escape(replace_control_characters(" ".join(cell.split())))
    return f"[{COLOURS[cell]}]{text}[/]" if cell in COLOURS else text
