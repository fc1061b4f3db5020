"""Tables: fitted to the terminal, or whole and separated by tabs for whatever reads the pipe."""

import sys
from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

COLOURS = {
    "ok": "green", "updated": "green", "due": "cyan", "new": "cyan", "running": "cyan", "failing": "yellow",
    "error": "red", "failed": "red", "disabled": "dim", "resting": "dim",
}  # fmt: skip


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[str] = ()) -> None:
    """Prints rows under their columns; those named in `wide` are cut first when the terminal is narrow."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            click.echo("\t".join(" ".join(cell.split()) for cell in row))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True, overflow="ellipsis", min_width=8 if column in wide else len(column))
    for row in rows:
        table.add_row(*(_coloured(cell) for cell in row))
    Console(highlight=False).print(table)


def _coloured(cell: str) -> str:
    text = escape(" ".join(cell.split()))
    return f"[{COLOURS[cell]}]{text}[/]" if cell in COLOURS else text
