"""Prints tables: fitted to a terminal, or separated by tabs in a pipe."""

import sys
from collections.abc import Sequence

from feedmill.cli.output.print_text import print_text
from feedmill.optional_imports import import_by_name

# Imported for a terminal only: importing rich takes a third as long as everything else that a command needs.
PRINT_FITTED = "feedmill.cli.output.terminal_table:print_fitted"


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[str] = ()) -> None:
    """Prints a table with at least one row; the columns in `wide` share the remaining width."""
    if sys.stdout.isatty():
        import_by_name(PRINT_FITTED)(columns, rows, wide)
        return
    for row in (columns, *rows):
        print_text("\t".join(" ".join(cell.split()) for cell in row))
