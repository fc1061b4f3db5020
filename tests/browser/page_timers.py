"""Timers of a page by which something goes away: they go off when a test says so, not when the machine is slow."""

import json
import re
from pathlib import Path

from playwright.sync_api import BrowserContext

import feedmill.serve.web

SCRIPTS = Path(feedmill.serve.web.__file__).parent / "static" / "js"


def _length(script: str, name: str) -> int:
    found = re.search(rf"^const {name} = ([\d_]+);$", (SCRIPTS / script).read_text(), re.MULTILINE)
    assert found, f"there is no {name} in {script}"
    return int(found[1])


# In milliseconds. How long the first of two keys is remembered.
FIRST_KEY = _length("keyboard.js", "PATIENCE")
# How long a job that went well is shown after its end.
ENDED_JOB = _length("job_progress.js", "CLOSES_AFTER")
# How long a finger rests on a row until its menu opens.
RESTING_FINGER = _length("swipe.js", "HELD")
# How long an article is open until it has the address of the page.
ADDRESS = _length("reading_pane.js", "SOON")
# How long a message is shown: one of a script, and one of the server.
TOAST = 6_000
SERVERS_TOAST = 10_000

# Others run as they are. Whoever is held can't be cleared, so a test may let go only of those that nobody clears.
HOLD = """
(() => {
  const lengths = %s, held = [], run = window.setTimeout;
  window.setTimeout = (does, length, ...more) =>
    lengths.includes(length) ? -held.push({ does, length }) : run(does, length, ...more);
  window.letGo = (length) => held.filter((timer) => timer.length === length).forEach((timer) => timer.does());
})()
"""


def hold_timers(context: BrowserContext, *lengths: int) -> None:
    """Holds the timers of these lengths in all windows of the context, and those that no test waits for."""
    context.add_init_script(HOLD % json.dumps([FIRST_KEY, ENDED_JOB, TOAST, *lengths]))
