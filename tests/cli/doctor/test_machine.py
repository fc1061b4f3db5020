"""Findings about the machine: Python, SQLite, the clock, open files, the log of a server."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill.cli.doctor import machine
from feedmill.cli.doctor.findings import Finding, Severity
from feedmill.cli.doctor.machine import judge_clock, judge_open_files, judge_python, judge_sqlite, log_file_of
from feedmill.serve.data_lock import lock_data_folder
from feedmill.settings import Settings
from feedmill.store.database import Database
from tests.cli.doctor.findings_of import NOW, assert_is_written, findings_of, is_warning


def _told(finding: Finding) -> tuple[str, Severity]:
    assert_is_written(finding)
    return finding.code, finding.severity


async def test_this_machine_is_fine(settings: Settings, db: Database) -> None:
    found = await findings_of(settings, datetime.now(UTC))

    assert {"python_ok", "sqlite_ok", "clock_ok", "open_files_ok"} <= found.keys()


def test_a_free_threaded_python_is_a_warning() -> None:
    assert _told(judge_python(is_free_threaded=True)) == ("python_free_threaded", Severity.WARNING)


def test_an_sqlite_that_is_old_or_lacks_search_is_named() -> None:
    assert _told(judge_sqlite("3.39.4", True)) == ("sqlite_old", Severity.WARNING)
    assert _told(judge_sqlite("3.40.0", True)) == ("sqlite_ok", Severity.OK)
    assert _told(judge_sqlite("3.50.1", False)) == ("sqlite_without_fts5", Severity.ERROR)


def test_a_wrong_clock_is_reported() -> None:
    ahead, behind = timedelta(seconds=95), timedelta(seconds=-95)

    assert _told(judge_clock(NOW, {"database": timedelta(seconds=2)})) == ("clock_ok", Severity.OK)
    assert _told(judge_clock(NOW, {"database": ahead})) == ("clock_ahead", Severity.ERROR)
    assert _told(judge_clock(NOW, {"database": timedelta(), "store": behind})) == ("clock_behind", Severity.ERROR)
    assert _told(judge_clock(NOW.replace(year=2020), {})) == ("clock_in_the_past", Severity.ERROR)


def test_too_few_open_files_are_a_warning_with_the_number_that_is_needed(settings: Settings) -> None:
    finding = judge_open_files(settings, 1024)

    assert _told(finding) == ("open_files_few", Severity.WARNING)
    assert "ulimit -n 4203" in str(finding.remedy)
    assert judge_open_files(settings, None).severity is Severity.OK


async def test_a_large_log_of_the_server_is_a_warning(
    settings: Settings, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "serve.log"
    monkeypatch.setattr(machine, "log_file_of", lambda process: log)
    with log.open("wb") as file:
        file.truncate(600_000_000)

    with lock_data_folder(settings.data):
        found = await findings_of(settings)

    assert is_warning(found, "log_large", str(log), "logrotate")


@pytest.mark.external
def test_the_log_file_of_a_process_is_where_its_errors_go(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=log)
    try:
        assert log_file_of(str(process.pid)) == tmp_path / "log"
    finally:
        process.communicate(b"\n")
    assert log_file_of(str(process.pid)) is None
    assert log_file_of("unknown") is None
