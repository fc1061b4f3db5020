"""Counts the errors that the processes of a run have logged, and keeps their logs."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ERRORS = ("error", "critical")
# Of a traceback, or of a library that writes to stderr by itself.
NO_EVENT = "lines that are no log event"


def count_errors(logs: Iterable[Path]) -> Counter[str]:
    """By role and event, such as `embedded: task_crashed`."""
    found: Counter[str] = Counter()
    for log in logs:
        role = log.stem.partition("-")[0]
        with log.open(errors="replace") as lines:
            found.update(f"{role}: {event}" for line in lines if (event := _error_of(line)))
    return found


def _error_of(line: str) -> str | None:
    if not line.strip():
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return NO_EVENT
    if not isinstance(event, dict):
        return NO_EVENT
    return str(event.get("event")) if event.get("level") in ERRORS else None


def keep_logs(work: Path, output: Path) -> list[Path]:
    """Copies the logs to `output`, in place of those of an earlier run; the copies."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    return [Path(shutil.copy(log, output)) for log in sorted(work.glob("*.log"))]
