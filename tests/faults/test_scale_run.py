"""The run at scale (`make scale`) works at small sizes, and finds nothing lost, doubled or stuck."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import environment
from tests.services.server import Service

ROOT = Path(__file__).parents[2]
SMALL = ("--feeds", "400", "--entries", "8000", "--users", "20", "--reader-feeds", "100")
LARGE = ("--feeds", "20000", "--entries", "400000", "--users", "300", "--reader-feeds", "2000")
PAGES = {
    "all lists",
    "all searches",
    "list",
    "next page",
    "one feed",
    "article",
    "search, rare word",
    "feeds of the API",
}


@pytest.mark.timeout(300)
def test_hours_of_a_few_hundred_feeds_lose_and_double_nothing(tmp_path: Path, postgres_service: Service) -> None:
    results = _run(
        tmp_path, *SMALL, "--hours", "3", "--minutes", "0.2", "--every", "2", "--plots", "--images", "images"
    )

    assert results["problems"] == []
    assert results["fetched"] > 50
    assert {table["title"] for table in results["tables"]} >= {"Processes", "Tables", "Checked afterwards", "Settings"}
    assert (tmp_path / "output" / "logs" / "embedded-2.log").read_text() == ""
    assert (tmp_path / "output" / "samples.csv").read_text().count("\n") > 2
    assert "<polyline" in (tmp_path / "images" / "scale-lateness.svg").read_text()


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_a_day_of_twenty_thousand_feeds_loses_and_doubles_nothing(tmp_path: Path, postgres_service: Service) -> None:
    results = _run(tmp_path, *LARGE, "--minutes", "4")

    assert results["problems"] == []
    assert results["failed_pages"] == []
    assert results["pages"].keys() >= PAGES
    assert results["fetched"] > 30_000


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_a_day_of_twenty_thousand_feeds_survives_kills_and_a_failover(
    tmp_path: Path, postgres_service: Service, redis_service: Service
) -> None:
    results = _run(tmp_path, *LARGE, "--minutes", "6", "--engine", "celery", "--faults")

    assert results["problems"] == []
    assert results["kills"] >= 3


def _run(folder: Path, *options: str) -> dict[str, Any]:
    """The results of a run; it ends with an error if it found a problem."""
    command = [sys.executable, str(ROOT / "bench" / "scale_run" / "run.py"), *options, "--output", "output"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    file = folder / "output" / "results.json"
    assert file.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    results: dict[str, Any] = json.loads(file.read_text())
    assert (done.returncode == 0) == (not results["problems"]), done.stdout[-3000:] + done.stderr[-3000:]
    return results
