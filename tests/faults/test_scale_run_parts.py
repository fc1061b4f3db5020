"""Parts of the run at scale (`make scale`): its page, the lateness of postponed feeds, the errors in its logs."""

import json
import runpy
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

SCALE_RUN = Path(__file__).parents[2] / "bench" / "scale_run"
NOW = datetime(2026, 3, 9, 15, 30, tzinfo=UTC)
PAGE = """# Capacity

Before.

<!-- Figures of a day: made by bench/scale_run/write_page.py -->

old figures

<!-- End of a day -->

<!-- Figures of a night: made by bench/scale_run/write_page.py -->
other figures
<!-- End of a night -->
"""
TABLE = {
    "title": "A day",
    "columns": ["", "ms"],
    "rows": [["pages", 12]],
    "about": "",
    "bars": None,
    "notes": ["Note."],
}


@pytest.fixture
def load_part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a module of the bench, which is no package, without leaving its folders in the path."""
    monkeypatch.setattr(sys, "path", [str(SCALE_RUN), *sys.path])
    return lambda name: runpy.run_path(str(SCALE_RUN / f"{name}.py"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"tables": [TABLE]}))
    return file


def test_figures_of_a_run_replace_the_block_of_their_name_alone(tmp_path: Path, load_part: Any, results: Path) -> None:
    page = tmp_path / "scale.md"
    page.write_text(PAGE)

    for _ in range(2):
        load_part("write_page")["write_page"](page, "a day", [results])

    figures = "**A day**\n\n|  | ms |\n|---|--:|\n| pages | 12 |\n\nNote."
    assert page.read_text() == PAGE.replace("old figures", figures)


def test_several_runs_are_compared_in_one_table(tmp_path: Path, load_part: Any) -> None:
    page, files = tmp_path / "scale.md", [tmp_path / "one.json", tmp_path / "two.json"]
    page.write_text(PAGE)
    for workers, file in enumerate(files, start=1):
        run = {"seconds": 10, "fetched": 1000 * workers, "options": {"workers": str(workers)}}
        file.write_text(json.dumps(run | {"cpu_ms_per_fetch": {"embedded": 2.0, "postgresql": 1.0, "run": 9.0}}))

    load_part("write_page")["write_page"](page, "a day", files)

    text = page.read_text()
    assert "| processes that fetch | 1 | 2 |" in text
    assert "| fetches a second | 100.0 | 200.0 |" in text
    assert "| cores, postgresql | 0.10 | 0.20 |" in text


@pytest.mark.parametrize("name", ["a week", "another"])
def test_a_page_without_the_block_is_refused_and_left_as_it_is(
    tmp_path: Path, load_part: Any, results: Path, name: str
) -> None:
    page = tmp_path / "scale.md"
    text = PAGE + "<!-- Figures of another: made by bench/scale_run/write_page.py -->"
    page.write_text(text)

    with pytest.raises(SystemExit, match=f"no block {name}"):
        load_part("write_page")["write_page"](page, name, [results])

    assert page.read_text() == text


def test_a_feed_is_late_since_it_was_due_first_whichever_process_postponed_it(tmp_path: Path, load_part: Any) -> None:
    one, other = (load_part("first_due")["FirstDue"](tmp_path / "first_due", 10) for _ in range(2))
    times = [NOW + timedelta(minutes=minutes) for minutes in range(3)]

    one.note(10, times[0])
    other.note(10, times[1])

    assert other.has(10)
    assert one.take(10, times[2]) == times[0].timestamp()
    assert other.take(10, times[2]) == times[2].timestamp()


def test_errors_are_counted_by_role_and_event(tmp_path: Path, load_part: Any) -> None:
    events = [("error", "task_crashed"), ("warning", "feeds_not_postponed"), ("critical", "stopped")]
    lines = [json.dumps({"level": level, "event": event}) for level, event in events]
    (tmp_path / "embedded-1.log").write_text("\n".join([*lines, "Traceback (most recent call last):", ""]))
    (tmp_path / "embedded-2.log").write_text(lines[0])

    found = load_part("error_logs")["count_errors"](sorted(tmp_path.glob("*.log")))

    assert found == {
        "embedded: task_crashed": 2,
        "embedded: stopped": 1,
        "embedded: lines that are no log event": 1,
    }
