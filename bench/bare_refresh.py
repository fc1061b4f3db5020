"""The bare loop against which a refresh is measured: fetches, parses with lxml and inserts, a transaction per feed."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import aiohttp
from lxml import etree

WANTED = {"guid", "id", "link", "title", "author", "pubDate", "updated", "description", "summary", "encoded", "content"}
SCHEMA = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS feeds (url TEXT PRIMARY KEY, etag TEXT, modified TEXT, fetched TEXT, next TEXT);
CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, feed TEXT, guid TEXT, link TEXT, title TEXT, author TEXT,
  published TEXT, summary TEXT, content TEXT, UNIQUE (feed, guid));
CREATE INDEX IF NOT EXISTS listed ON entries (feed, published, id);
"""
INSERT = """INSERT OR IGNORE INTO entries (feed, guid, link, title, author, published, summary, content)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""


class Bare:
    """Fetch, parse, insert."""

    def __init__(self, folder: Path, at_once: int) -> None:
        self.folder = folder
        self.slots = asyncio.Semaphore(at_once)
        self.db = sqlite3.connect(folder / "bare.db", isolation_level=None)
        is_new = not self.db.execute("SELECT 1 FROM sqlite_master").fetchone()
        self.db.executescript(SCHEMA)
        if is_new:
            self.make_more()

    def make_more(self) -> None:
        """Creates the further tables of the larger loop."""

    async def refresh_all(self, urls: list[str]) -> int:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            await asyncio.gather(*(self.refresh(session, url) for url in urls))
        entries: int = self.db.execute("SELECT count(*) FROM entries").fetchone()[0]
        return entries

    async def refresh(self, session: aiohttp.ClientSession, url: str) -> None:
        known = self.db.execute("SELECT etag, modified FROM feeds WHERE url = ?", (url,)).fetchone()
        headers = {"If-None-Match": known[0] or "", "If-Modified-Since": known[1] or ""} if known else {}
        async with self.slots, session.get(url, headers=headers) as answer:
            if answer.status == 304:
                self.unchanged(url)
                return
            body = await answer.read()
        items = [i for i in etree.fromstring(body).iter() if str(i.tag).rpartition("}")[2] in ("item", "entry")]
        rows = [_row(url, _fields(item)) for item in items]
        self.before(url, body)
        self.db.execute("BEGIN")
        self.db.executemany(INSERT, rows)
        self.inside(url, body, rows)
        validators = (answer.headers.get("ETag"), answer.headers.get("Last-Modified"))
        self.db.execute("INSERT OR REPLACE INTO feeds VALUES (?, ?, ?, 'now', 'later')", (url, *validators))
        self.db.execute("COMMIT")

    def unchanged(self, url: str) -> None:
        self.db.execute("UPDATE feeds SET fetched = 'now', next = 'later' WHERE url = ?", (url,))

    def before(self, url: str, body: bytes) -> None:
        """Work before the transaction."""

    def inside(self, url: str, body: bytes, rows: list[tuple[Any, ...]]) -> None:
        """Further writes in the transaction."""


def _fields(item: Any) -> dict[str, str]:
    found = {}
    for child in item:
        name = child.tag.rpartition("}")[2]
        if name in WANTED:
            found[name] = child.text or child.get("href") or ""
    return found


def _row(url: str, found: dict[str, str]) -> tuple[Any, ...]:
    get = found.get
    return (
        url,
        get("guid") or get("id"),
        get("link"),
        get("title"),
        get("author"),
        get("pubDate") or get("updated"),
        get("description"),
        get("encoded") or get("content"),
    )
