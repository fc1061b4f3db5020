"""Tables: fitted to the terminal, or whole and separated by tabs for whatever reads the pipe."""

import sys
from collections.abc import Sequence
from typing import Any

import click
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

COLOURS = {
    "ok": "green", "updated": "green", "due": "cyan", "new": "cyan", "running": "cyan", "failing": "yellow",
    "error": "red", "failed": "red", "disabled": "dim", "resting": "dim",
}  # fmt: skip


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[str] = ()) -> None:
    """Prints rows, of which there is at least one, under their columns; those named in `wide` share the room left."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            click.echo("\t".join(" ".join(cell.split()) for cell in row))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
        width = max(cell_len(cell) for cell in (column, *cells))
        fit: dict[str, Any] = {"ratio": 1, "min_width": 8} if column in wide else {"width": width}
        table.add_column(column, no_wrap=True, overflow="ellipsis", **fit)
    for row in rows:
        table.add_row(*(_coloured(cell) for cell in row))
    Console(highlight=False).print(table)


def _coloured(cell: str) -> str:
    text = escape(" ".join(cell.split()))
    return f"[{COLOURS[cell]}]{text}[/]" if cell in COLOURS else text
