"""Writes the figures of a run into docs/running/scale.md: `python bench/scale_run/write_page.py NAME RESULTS`.

NAME is that of the block in the page, between two comments, RESULTS the `results.json` of a run. Several of them are
compared in one table.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "bench"), str(Path(__file__).parent)]

from day_report import comparison  # noqa: E402
from report import as_markdown  # noqa: E402

PAGE = ROOT / "docs" / "running" / "scale.md"


def write_page(page: Path, name: str, results: Sequence[Path]) -> None:
    """Replaces what is between the comments of that name."""
    begin, end = f"<!-- Figures of {name}: made by bench/scale_run/write_page.py -->", f"<!-- End of {name} -->"
    before, found, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise SystemExit(f"{page} has no block {name}")
    parts = map(_section, _tables([json.loads(file.read_text()) for file in results]))
    page.write_text("\n\n".join([f"{before}{begin}", *parts, f"{end}{after}"]))


def _tables(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(runs) > 1:
        return [asdict(comparison(runs))]
    tables: list[dict[str, Any]] = runs[0]["tables"]
    return tables


def _section(table: dict[str, Any]) -> str:
    figures = as_markdown(table["columns"], table["rows"])
    return "\n\n".join([f"**{table['title']}**", figures, *table["notes"]])


if __name__ == "__main__":
    write_page(PAGE, sys.argv[1], list(map(Path, sys.argv[2:])))
