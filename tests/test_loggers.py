"""Loggers that import structlog with their first line, and lose none."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.external

START = """
import logging, sys
from feedmill.lazy_loggers import get_logger, set_up_at_first_line
from feedmill.settings import load_settings
set_up_at_first_line(load_settings(log_format="json", log_level="info"))
log = get_logger("here")
assert "structlog" not in sys.modules
"""


def lines_of(script: str) -> list[dict[str, object]]:
    done = subprocess.run([sys.executable, "-c", START + script], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_structlog_is_not_imported_before_the_first_line() -> None:
    assert lines_of("") == []


@pytest.mark.parametrize(
    "script",
    ["log.info('first', n=1); log.warning('second')", "logging.getLogger('x').info('first'); log.warning('second')"],
)
def test_the_first_line_has_the_form_of_every_other_whoever_writes_it(script: str) -> None:
    first, second = lines_of(script)

    assert (first["event"], first["level"]) == ("first", "info")
    assert (second["event"], second["level"]) == ("second", "warning")
    assert "timestamp" in first


def test_the_first_line_of_a_library_is_written_once_and_without_secrets() -> None:
    [line] = lines_of("logging.getLogger('x').error('redis://me:hunter2@host')")

    assert line["event"] == "redis://me:***@host"


def test_a_line_below_the_level_is_not_written() -> None:
    assert lines_of("log.debug('quiet'); logging.getLogger('x').debug('quiet')") == []
