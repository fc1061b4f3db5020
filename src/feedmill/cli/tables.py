"""Tables: fitted to the terminal, or whole and separated by tabs for whatever reads the pipe."""

import sys
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from feedmill.cli.say import say
from feedmill.model.terminal import harmless

# A column that is cut keeps at least so many cells; between two columns stand so many.
LEAST, GAP = 8, 3
COLOURS = {
    "ok": "green", "updated": "green", "due": "cyan", "new": "cyan", "running": "cyan", "failing": "yellow",
    "error": "red", "failed": "red", "disabled": "dim", "resting": "dim",
}  # fmt: skip


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[str] = ()) -> None:
    """Prints rows, of which there is at least one, under their columns; those named in `wide` share the room left."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            say("\t".join(" ".join(cell.split()) for cell in row))
        return
    console = Console(highlight=False)
    widths = [
        LEAST if column in wide else max(cell_len(cell) for cell in (column, *cells))
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True)
    ]
    shown = _how_many_fit(widths, console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for column, width in zip(columns[:shown], widths, strict=False):
        fit: dict[str, Any] = {"ratio": 1, "min_width": width} if column in wide else {"width": width}
        table.add_column(column, no_wrap=True, overflow="ellipsis", **fit)
    for row in rows:
        table.add_row(*(_coloured(cell) for cell in row[:shown]))
    console.print(table)


def _how_many_fit(widths: Sequence[int], room: int) -> int:
    """How many columns a narrow terminal has room for: the first are the ones that matter."""
    fitting = [count for count in range(1, len(widths) + 1) if sum(widths[:count]) + GAP * count <= room]
    return max(fitting, default=1)


def _coloured(cell: str) -> str:
    text = escape(harmless(" ".join(cell.split())))
    return f"[{COLOURS[cell]}]{text}[/]" if cell in COLOURS else text
