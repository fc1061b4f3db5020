"""Benchmarks the tools of assistants over HTTP against the same reads of the JSON API.

    python bench/mcp_tools.py [--entries 50000] [--feeds 1000] [--databases sqlite,postgresql] [--rounds 30]

A `feedmill serve` in its own process answers. Each figure is the lower quartile of the rounds in milliseconds; both
requests are made in turns, so that other load slows them alike.
"""

import argparse
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from typing import Any

import aiohttp
import uvloop
from library_load import load_once, reader
from reader_apps import database_and_settings
from report import Cell, Table, report_table

from feedmill.model.user import READ
from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds
from feedmill.store.users.api_keys import add_api_key
from tests.cli.new_interpreter import serving

KEY = "fm_bench"
HEADERS = {"Authorization": f"Bearer {KEY}", "Accept": "application/json, text/event-stream"}

Request = Callable[[], Awaitable[None]]


async def prepare(db: Database, folder: Path, arguments: argparse.Namespace) -> None:
    await load_once(db, folder, arguments.entries, arguments.feeds)
    user, _ = await reader(db)
    await db.batch([Step(feeds.update().values(next_fetch_at=None))])
    await add_api_key(db, user.id, "bench", KEY, (READ,), datetime.now(UTC))


async def measure(http: aiohttp.ClientSession, rounds: int) -> list[list[Cell]]:
    async with http.get("/api/entries?limit=1") as response:
        entry = (await response.json())["items"][0]["id"]
    pairs: dict[str, tuple[str, str, dict[str, Any]]] = {
        "20 unread entries": ("/api/entries?limit=20", "list_entries", {"limit": 20}),
        "a search": ("/api/search?q=river&limit=20", "search_entries", {"query": "river", "limit": 20}),
        "an article": (f"/api/entries/{entry}", "read_entry", {"entry_id": entry}),
        "feeds": ("/api/feeds", "list_feeds", {}),
    }
    return [
        [name, *await _in_turns(_getting(http, path), _calling(http, tool, arguments), rounds)]
        for name, (path, tool, arguments) in pairs.items()
    ]


async def _in_turns(api: Request, tool: Request, rounds: int) -> list[Cell]:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for request, taken in zip((api, tool), times, strict=True):
            started = time.perf_counter()
            await request()
            taken.append((time.perf_counter() - started) * 1000)
    api_ms, tool_ms = map(_quartile, times)
    return [api_ms, tool_ms, tool_ms / api_ms]


def _getting(http: aiohttp.ClientSession, path: str) -> Request:
    async def get() -> None:
        async with http.get(path) as response:
            await response.read()
            assert response.status == 200, (path, response.status)

    return get


def _calling(http: aiohttp.ClientSession, tool: str, arguments: dict[str, Any]) -> Request:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}

    async def call() -> None:
        async with http.post("/mcp", json=body) as response:
            answer = await response.json()
            assert response.status == 200, answer
            assert not answer["result"].get("isError"), answer

    return call


def _quartile(times: Sequence[float]) -> float:
    return quantiles(times, n=4)[0]


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        with tempfile.TemporaryDirectory() as path, database_and_settings(name, Path(path)) as (db, settings):
            await prepare(db, Path(path), arguments)
            with serving(cwd=Path(path), settings=settings) as server:
                async with aiohttp.ClientSession(server.address, headers=HEADERS) as http:
                    rows = await measure(http, arguments.rounds)
            await db.close()
            title = f"Tools of assistants, {name}, {arguments.feeds:,} feeds, {arguments.entries:,} entries"
            report_table(Table(title, ["read", "API, ms", "tool, ms", "ratio"], rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--databases", default="sqlite")
    parser.add_argument("--rounds", type=int, default=30)
    uvloop.run(main(parser.parse_args()))
