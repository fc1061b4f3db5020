"""Benchmarks reading on with the key `j` in a long list against a short one, in Chromium.

    python bench/long_list.py [--rows 2000] [--keys 30]

Each figure is the time from the key to the frame that shows the next article, in milliseconds. The server, the browser
and its driver share the machine. Between two keys there is a pause, as a reader makes one.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from report import Table, report_table

from tests.browser import sample_feeds
from tests.browser.browser_user import BrowserUser
from tests.browser.sample_feeds import SampleEntry, SampleFeed
from tests.browser.site_server import run_site_server
from tests.serve.rest.site import Site
from tests.services.chromium import running_chromium

PER_FEED = 200
SHORT = 50
PAUSE = 300
GOAL = 60

PRESS_J = """() => new Promise((done) => {
  const shown = () => document.querySelector(".pane .article")?.id;
  const before = shown();
  const start = performance.now();
  const painted = () => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now() - start);
    port2.postMessage(0);
  };
  const look = () => requestAnimationFrame(shown() === before ? look : painted);
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true, cancelable: true }));
  look();
})"""
COUNT_ROWS = "() => document.querySelectorAll('.row').length"
COUNT_NODES = "() => document.querySelectorAll('*').length"
LOAD_MORE = "() => document.querySelector('.more a')?.click()"


async def prepare(site: Site, rows: int) -> None:
    await sample_feeds.prepare(site)
    alice = await sample_feeds.find_user(site)
    for number in range(-(-rows // PER_FEED)):
        pieces = [SampleEntry(f"Piece {place} of {number}", hours=place / 10) for place in range(PER_FEED)]
        await sample_feeds.subscribe_to(site, alice, SampleFeed(f"/long-{number}.xml", f"Long {number}", pieces))


def load(alice: BrowserUser, rows: int) -> None:
    """Loads further pages until the list has so many rows."""
    while (here := alice.page.evaluate(COUNT_ROWS)) < rows:
        alice.page.evaluate(LOAD_MORE)
        alice.until("(here) => document.querySelectorAll('.row').length > here", here)


def measure(alice: BrowserUser, name: str, rows: int, keys: int) -> list[Any]:
    alice.page.goto("/all")
    load(alice, rows)
    times: list[float] = []
    for _ in range(keys + 1):
        alice.page.wait_for_timeout(PAUSE)
        times.append(alice.page.evaluate(PRESS_J))
    # The first one opens the pane; the others are reading on.
    return [name, rows, alice.page.evaluate(COUNT_NODES), median(times[1:]), max(times[1:])]


def run(rows: int, keys: int) -> list[list[Any]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        run_site_server(Path(folder), lambda site: prepare(site, rows)) as server,
        running_chromium() as chromium,
        chromium.in_use(),
    ):
        context = chromium.browser.new_context(viewport={"width": 1440, "height": 900}, base_url=server.origin)
        alice = BrowserUser(context.new_page())
        alice.sign_in(sample_feeds.NAME, sample_feeds.PASSWORD)
        short, long = (measure(alice, name, n, keys) for name, n in (("a short list", SHORT), ("a long list", rows)))
        context.close()
    return [[*short, 1.0], [*long, long[3] / short[3]]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--keys", type=int, default=30)
    asked = parser.parse_args()
    found = run(asked.rows, asked.keys)
    columns = ["list", "rows", "elements", "median ms", "slowest ms", "times the short list"]
    about = "From the key `j` to the frame that shows the next article."
    report_table(Table("Reading on in a list", columns, found, about, notes=[f"Goal: a median of {GOAL} ms at most."]))


if __name__ == "__main__":
    main()
