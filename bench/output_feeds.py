"""Benchmarks output feeds over HTTP: a page that the client has against one that it has not, list by list.

    python bench/output_feeds.py [--entries 50000] [--feeds 200] [--databases sqlite,postgresql] [--rounds 30]

A `feedmill serve` in its own process answers. Each figure is the lower quartile of the rounds in milliseconds; both
requests are made in turns, so that other load slows them alike. The ratio says what a conditional request saves.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

import aiohttp
import uvloop
from library_load import load_once, reader
from reader_apps import add_folders, database_and_settings
from report import Cell, Table, report_table
from sqlalchemy import text

from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat
from feedmill.library.output_feeds.manage_output_feeds import create_output_feed
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.model.syndication.output_feed import OutputList, OutputListKind
from feedmill.model.user import Caller
from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds
from tests.cli.new_interpreter import serving

# An article of some 5 kB, as blogs send them.
PARAGRAPH = "<p>The <em>miller</em> opens the <a href='/sluice'>sluice</a> and waits &amp; listens to the stones.</p>"
ARTICLE = f"<h2>A day at the mill</h2>{PARAGRAPH * 50}<img src='https://example.org/mill.jpg' alt='the mill'>"
LENGTHEN = text("UPDATE entries SET content_html = :html WHERE id > :id")
NEWEST = text("SELECT max(id) AS id FROM entries")


async def prepare(db: Database, folder: Path, arguments: argparse.Namespace) -> dict[str, str]:
    """By list the secret of an output feed."""
    await load_once(db, folder, arguments.entries, arguments.feeds)
    user, subscribed = await reader(db)
    await db.batch([Step(feeds.update().values(next_fetch_at=None))])
    [newest] = await db.query(NEWEST)
    await db.batch([Step(LENGTHEN, {"html": ARTICLE, "id": newest["id"] - 20_000})])
    await add_folders(db, user, subscribed)
    search = await create_saved_search(db, user.id, "river", "river")
    kinds = OutputListKind
    lists = {
        "all entries": OutputList(kinds.ALL),
        "a folder of 10 feeds": OutputList(kinds.FOLDER, 1),
        "a feed": OutputList(kinds.FEED, subscribed[0]),
        "a saved search": OutputList(kinds.SEARCH, search.id),
    }
    who, now = Caller(user, user.scopes), datetime.now(UTC)
    return {name: (await create_output_feed(db, who, wanted, name, now))[0] for name, wanted in lists.items()}


async def measure(http: aiohttp.ClientSession, secret: str, rounds: int) -> list[Cell]:
    path = OutputAddress("", secret, OutputFormat.ATOM).url
    etag, length = await _get(http, path, 200)
    whole, known = [], []
    for _ in range(rounds):
        for times, headers, status in ((whole, {}, 200), (known, {"If-None-Match": etag}, 304)):
            started = time.perf_counter()
            await _get(http, path, status, headers)
            times.append((time.perf_counter() - started) * 1000)
    page_ms, known_ms = _quartile(whole), _quartile(known)
    return [length // 1000, page_ms, known_ms, page_ms / known_ms]


async def _get(
    http: aiohttp.ClientSession, path: str, status: int, headers: dict[str, str] | None = None
) -> tuple[str, int]:
    async with http.get(path, headers=headers) as response:
        content = await response.read()
        assert response.status == status, (path, response.status)
        return response.headers["etag"], len(content)


def _quartile(times: Sequence[float]) -> float:
    return quantiles(times, n=4)[0]


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        with tempfile.TemporaryDirectory() as path, database_and_settings(name, Path(path)) as (db, settings):
            secrets = await prepare(db, Path(path), arguments)
            with serving(cwd=Path(path), settings=settings) as server:
                async with aiohttp.ClientSession(server.address) as http:
                    rows = [[each, *await measure(http, secret, arguments.rounds)] for each, secret in secrets.items()]
            await db.close()
            title = f"Output feeds, {name}, {arguments.entries:,} entries: 50 entries as Atom"
            report_table(Table(title, ["list", "kB", "page, ms", "304, ms", "ratio"], rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--feeds", type=int, default=200)
    parser.add_argument("--databases", default="sqlite")
    parser.add_argument("--rounds", type=int, default=30)
    uvloop.run(main(parser.parse_args()))
