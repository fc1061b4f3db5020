"""Measures an import of many new feeds into `feedmill serve` on SQLite: when entries are readable, and when searchable.

    PYTHONPATH=. python bench/opml_import.py [--feeds 5000]

A server of its own, the web of feeds of `bench/feed_web.py` on loopback, and an OPML file sent to the API. The
database is looked at four times a second: an entry is readable once it is stored, and searchable once it is in the
word index. At the end a search must find every entry. The goal: everything is searchable a minute after it was stored.
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import aiohttp
from busy_reader import NAME, PASSWORD, BusyReader
from feed_web import PER_FEED, feed_url
from report import Table, report_table
from small_machine import browser, running_web

from feedmill.library.users.manage_users import create_first_admin
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate
from tests.cli.command import serving
from tests.services.server import free_port

LOOK_EVERY = 0.25
PATIENCE = 1800
STATE = """
    SELECT (SELECT count(*) FROM feeds WHERE last_fetched_at IS NOT NULL), (SELECT max(id) FROM entries),
        (SELECT count(*) FROM search_unindexed), (SELECT min(entry_id) FROM search_unindexed)"""
FOUND = "SELECT count(*) FROM search_index WHERE search_index MATCH 'feed'"


class Look(NamedTuple):
    seconds: float
    fetched: int
    newest: int
    waiting: int
    oldest_waiting: int | None


async def add_reader(data: Path) -> None:
    data.mkdir()
    db = SqliteDatabase(data / "feedmill.db")
    await migrate(db)
    await create_first_admin(db, NAME, PASSWORD, datetime.now(UTC))
    await db.close()


def opml(feeds: int, port: int) -> str:
    outlines = "".join(f'<outline type="rss" xmlUrl="{feed_url(number, port)}"/>' for number in range(feeds))
    return f'<?xml version="1.0"?><opml version="2.0"><head/><body>{outlines}</body></opml>'


async def follow_import(http: aiohttp.ClientSession, database: Path, feeds: int, port: int) -> list[Look]:
    """Imports the feeds, and looks at the database until all their entries are searchable."""
    reader = BusyReader(http)
    await reader.sign_in()
    headers = {"X-CSRF-Token": reader.csrf, "Content-Type": "text/x-opml"}
    async with http.post("/api/feeds/import", data=opml(feeds, port), headers=headers) as response:
        assert response.status == 202, await response.text()
    started, looks = time.monotonic(), list[Look]()
    while time.monotonic() - started < PATIENCE:
        fetched, newest, waiting, oldest = await asyncio.to_thread(query, database, STATE)
        looks.append(Look(time.monotonic() - started, fetched or 0, newest or 0, waiting or 0, oldest))
        if looks[-1].fetched == feeds and not waiting:
            return looks
        await asyncio.sleep(LOOK_EVERY)
    raise SystemExit(f"not done after {PATIENCE} s: {looks[-1]}")


def query(database: Path, sql: str) -> tuple[int | None, ...]:
    with closing(sqlite3.connect(database, timeout=60)) as connection:
        return tuple(connection.execute(sql).fetchone())


def longest_wait(looks: list[Look]) -> float:
    """The longest time for which an entry was stored and not in the index, in seconds."""
    stored_at, longest, place = list[tuple[int, float]](), 0.0, 0
    for look in looks:
        stored_at.append((look.newest, look.seconds))
        while look.oldest_waiting is not None and stored_at[place][0] < look.oldest_waiting:
            place += 1
        if look.oldest_waiting is not None:
            longest = max(longest, look.seconds - stored_at[place][1])
    return longest


async def main(feeds: int) -> None:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, running_web(port):
        data = Path(folder) / "data"
        await add_reader(data)
        settings = {"data": str(data), "allow_private": "127.0.0.0/8", "log_level": "error"}
        with serving(cwd=Path(folder), settings=settings) as server:
            async with browser(server.address) as http:
                looks = await follow_import(http, data / "feedmill.db", feeds, port)
            [found] = query(data / "feedmill.db", FOUND)
    stored = next(look.seconds for look in looks if look.fetched == feeds)
    assert found == feeds * PER_FEED, f"{found} of {feeds * PER_FEED} entries are found"
    report_table(
        Table(
            f"An OPML file with {feeds:,} new feeds of {PER_FEED} entries",
            ["", "seconds"],
            [
                ["the first entries are readable", next(look.seconds for look in looks if look.newest)],
                ["all are readable", stored],
                ["all are searchable", looks[-1].seconds],
                ["an entry waited for the index, at most", longest_wait(looks)],
            ],
            notes=[f"{max(look.waiting for look in looks):,} entries waited for the index at most."],
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeds", type=int, default=5_000)
    asyncio.run(main(parser.parse_args().feeds))
