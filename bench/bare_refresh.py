"""The bare loops against which a refresh is measured: the least code that does the work.

`Bare` fetches, parses with lxml and inserts, with one transaction per feed. `SameWork` also stores everything else
that a refresh stores: the raw body in a file and in a list, image URLs, a log line, times, the same indexes, and a
word index.
"""

import asyncio
import hashlib
import html
import os
import re
import sqlite3
from pathlib import Path
from typing import Any

import aiohttp
from lxml import etree

WANTED = {"guid", "id", "link", "title", "author", "pubDate", "updated", "description", "summary", "encoded", "content"}
IMAGES = re.compile(r"<img\b[^>]*?\bsrc=[\"']?([^\"'\s>]+)", re.I)
SCHEMA = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS feeds (url TEXT PRIMARY KEY, etag TEXT, modified TEXT, fetched TEXT, next TEXT);
CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, feed TEXT, guid TEXT, link TEXT, title TEXT, author TEXT,
  published TEXT, summary TEXT, content TEXT, UNIQUE (feed, guid));
CREATE INDEX IF NOT EXISTS listed ON entries (feed, published, id);
"""
MORE_SCHEMA = """
ALTER TABLE entries ADD COLUMN in_feed INTEGER DEFAULT 1;
ALTER TABLE entries ADD COLUMN last_seen TEXT;
CREATE INDEX in_feed ON entries (feed, in_feed, last_seen);
CREATE TABLE log (id INTEGER PRIMARY KEY, feed TEXT, at TEXT, outcome TEXT, bytes INTEGER);
CREATE INDEX log_of_feed ON log (feed, at);
CREATE TABLE raw (id INTEGER PRIMARY KEY, feed TEXT, path TEXT UNIQUE, sha256 TEXT);
CREATE TABLE images (id INTEGER PRIMARY KEY, feed TEXT, guid TEXT, position INTEGER, url TEXT, status TEXT);
CREATE INDEX waiting ON images (status, id);
CREATE TABLE texts (id INTEGER PRIMARY KEY, title TEXT, author TEXT, words TEXT);
CREATE VIRTUAL TABLE search USING fts5 (title, author, words, content = texts, content_rowid = id);
"""
TAG = re.compile(r"<[^>]*>")
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


class SameWork(Bare):
    """Also stores everything that our refresh stores."""

    def make_more(self) -> None:
        self.db.executescript(MORE_SCHEMA)

    def unchanged(self, url: str) -> None:
        self.db.execute("BEGIN")
        super().unchanged(url)
        self.db.execute("INSERT INTO log (feed, at, outcome, bytes) VALUES (?, 'now', 'not_modified', 0)", (url,))
        self.db.execute("COMMIT")

    def before(self, url: str, body: bytes) -> None:
        home = self.folder / "raw" / hashlib.md5(url.encode()).hexdigest()
        home.mkdir(parents=True, exist_ok=True)
        with (home / "partial").open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        (home / "partial").rename(home / hashlib.sha256(body).hexdigest())

    def inside(self, url: str, body: bytes, rows: list[tuple[Any, ...]]) -> None:
        found = [(url, row[1], n, image) for row in rows for n, image in enumerate(IMAGES.findall(row[7] or ""))]
        insert = "INSERT INTO images (feed, guid, position, url, status) VALUES (?, ?, ?, ?, 'pending')"
        self.db.executemany(insert, found)
        digest = hashlib.sha256(body).hexdigest()
        self.db.execute("INSERT OR IGNORE INTO raw (feed, path, sha256) VALUES (?, ?, ?)", (url, url + digest, digest))
        self.db.execute("INSERT INTO log (feed, at, outcome, bytes) VALUES (?, 'now', 'updated', ?)", (url, len(body)))
        self.index(url, rows)

    def index(self, url: str, rows: list[tuple[Any, ...]]) -> None:
        """Indexes new entries; the last indexed id tells which are new."""
        texts = {row[1]: (row[3], row[4], html.unescape(TAG.sub(" ", row[7] or row[6] or ""))) for row in rows}
        last = self.db.execute("SELECT coalesce(max(id), 0) FROM texts").fetchone()[0]
        new = self.db.execute("SELECT id, guid FROM entries WHERE id > ? AND feed = ?", (last, url)).fetchall()
        added = [(number, *texts[guid]) for number, guid in new]
        self.db.executemany("INSERT INTO texts VALUES (?, ?, ?, ?)", added)
        self.db.executemany("INSERT INTO search (rowid, title, author, words) VALUES (?, ?, ?, ?)", added)


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
