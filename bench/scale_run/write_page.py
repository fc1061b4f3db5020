"""Writes the figures of a run into docs/running/scale.md: `python bench/scale_run/write_page.py RESULTS NAME`.

RESULTS is the `results.json` of a run, NAME that of the block in the page, between two comments.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]

from report import as_markdown  # noqa: E402

PAGE = ROOT / "docs" / "running" / "scale.md"


def write_page(page: Path, results: Path, name: str) -> None:
    """Replaces what is between the comments of that name."""
    begin, end = f"<!-- Figures of {name}: made by bench/scale_run/write_page.py -->", f"<!-- End of {name} -->"
    before, found, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise SystemExit(f"{page} has no block {name}")
    parts = [_section(table) for table in json.loads(results.read_text())["tables"]]
    page.write_text("\n\n".join([f"{before}{begin}", *parts, f"{end}{after}"]))


def _section(table: dict[str, object]) -> str:
    figures = as_markdown(table["columns"], table["rows"])  # type: ignore[arg-type]
    return "\n\n".join([f"**{table['title']}**", figures, *table["notes"]])  # type: ignore[misc]


if __name__ == "__main__":
    write_page(PAGE, Path(sys.argv[1]), sys.argv[2])
