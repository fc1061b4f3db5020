"""Runs every benchmark and writes `docs/benchmarks.md` with its plots: `python bench/all.py [name …]`.

Each runs in its own process, one after another, because they would disturb each other. All take under 20 minutes on two
cores. A benchmark that fails is reported and fails the run; the page is then not changed.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from report import as_markdown, format_cell

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
IMAGES = ROOT / "docs" / "images"
REFRESHED = ("feedmill", "feedmill_no_stories", "same_work_stories", "same_work", "reader", "reader_search")
# The title of each benchmark, and arguments with which all of them take less than 20 minutes.
BENCHES = {
    "start": ("Starting", []),
    "parse": ("Reading feeds", []),
    "outbound": ("Fetching", ["--feeds", "500", "--rounds", "5", "--hosts", "100"]),
    "refresh": (
        "Refreshing feeds",
        ["--feeds", "300", "--rounds", "1", "--latency", "--only", ",".join(REFRESHED)],
    ),
    "opml_import": ("Importing many feeds", ["--feeds", "1000"]),
    "archive": ("Keeping images", ["--images", "400", "--rounds", "3"]),
    "library": ("Reading and searching", ["--entries", "50000"]),
    "filters": ("Filters", ["--entries", "50000", "--rounds", "6"]),
    "reader_apps": ("Synchronizing reader apps", ["--databases", "sqlite", "--rounds", "3"]),
    "mcp_tools": ("Tools of assistants", ["--entries", "20000", "--databases", "sqlite"]),
    "output_feeds": ("Output feeds", ["--entries", "20000", "--databases", "sqlite"]),
    "long_list": ("Reading on in the browser", []),
    "push": ("Pushes of hubs", []),
    "pools": ("Pools", ["--items", "10000"]),
    "raised_entries": ("Raised entries first", ["--entries", "50000"]),
    "story_index": ("Stories in a large library", ["--entries", "50000"]),
    "stories": ("Finding the same article in several feeds", []),
    "stalls": ("Responding while hostile texts are parsed", []),
    "scale": ("Worker processes", ["--feeds", "2000"]),
}
# A server of thousands of feeds, which is not part of the project.
FARM = ROOT.parent / "shared" / "feedfarm"
NEED_THE_FARM = ("refresh", "scale")
PEERS = ("feedparser", "fastfeedparser", "lxml", "reader", "aiohttp", "redis", "celery")


def run(name: str, arguments: list[str]) -> list[dict[str, Any]]:
    """Runs a benchmark and returns its tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables"
        script = [sys.executable, str(ROOT / "bench" / f"{name}.py"), *arguments]
        # Some start the same servers as the tests.
        subprocess.run(script, check=True, cwd=ROOT, env=os.environ | {"BENCH_REPORT": str(path), "PYTHONPATH": "."})
        return [json.loads(line) for line in path.read_text().splitlines()]


def machine() -> str:
    model = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), ": ?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    peers = ", ".join(f"{name} {version(name)}" for name in PEERS)
    return (
        f"{os.cpu_count()} cores ({model.partition(':')[2].strip()}), {memory:.0f} GiB, {platform.system()} "
        f"{platform.release()}, Python {platform.python_version()}; {peers}."
    )


def page(found: dict[str, list[dict[str, Any]]], seconds: float) -> str:
    now = datetime.now(UTC)
    parts = [
        "# Benchmarks\n",
        f"<!-- Made by `make bench`; nothing here is typed by hand. -->\n\nMeasured {now:%Y-%m-%d} in {seconds:.0f} s.",
        f"{machine()}\n",
        "Each measurement is compared with another in the same run, because machines are noisy: read the ratios, not "
        "the times. `make bench` on your machine writes this page again.\n",
    ]
    if not FARM.exists():
        parts.append(f"Not measured, because the feed farm is not installed: {', '.join(NEED_THE_FARM)}.\n")
    for name, tables in found.items():
        parts.append(f"## {BENCHES[name][0]}\n\n`python bench/{name}.py {' '.join(BENCHES[name][1])}`\n")
        parts += [section(name, number, table) for number, table in enumerate(tables)]
    return "\n".join(parts)


def section(name: str, number: int, table: dict[str, Any]) -> str:
    figures = as_markdown(table["columns"], table["rows"])
    parts = [f"### {table['title']}\n", table["about"] and f"{table['about']}\n", figures, ""]
    parts += [f"{note}\n" for note in table["notes"]]
    if table["bars"]:
        file = f"bench-{name}-{number}.svg"
        (IMAGES / file).write_text(bars(table))
        parts.append(f"![{table['title']}](images/{file})\n")
    return "\n".join(part for part in parts if part is not None)


def bars(table: dict[str, Any]) -> str:
    """A bar chart with a bar for each row."""
    column = table["columns"].index(table["bars"])
    rows = [(row[0], row[column]) for row in table["rows"] if isinstance(row[column], int | float)]
    most = max(value for _, value in rows) or 1
    height = 26 * len(rows) + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="13" role="img">',
        f"<title>{escape(table['title'])}: {escape(table['bars'])}</title>",
        f'<rect width="720" height="{height}" fill="#fff"/>',
        f'<text x="10" y="18" fill="#555">{escape(table["bars"])}</text>',
    ]
    for place, (label, value) in enumerate(rows):
        y, length = 30 + 26 * place, 380 * value / most
        colour = "#2f6f4f" if "feedmill" in str(label).lower() else "#9aa5ab"
        lines.append(f'<text x="240" y="{y + 14}" text-anchor="end" fill="#222">{escape(str(label))}</text>')
        lines.append(f'<rect x="250" y="{y + 2}" width="{max(length, 1):.1f}" height="16" rx="2" fill="{colour}"/>')
        lines.append(f'<text x="{256 + length:.1f}" y="{y + 14}" fill="#222">{format_cell(value)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    names = sys.argv[1:] or list(BENCHES)
    started = time.monotonic()
    found = {name: run(name, BENCHES[name][1]) for name in names if FARM.exists() or name not in NEED_THE_FARM}
    if names == list(BENCHES):
        PAGE.write_text(page(found, time.monotonic() - started))
        print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
