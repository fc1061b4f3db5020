"""The bare loop with everything else that a refresh does, as the least code for it.

`SameWork` also stores the raw body in a file and in a list, a file that describes the feed, image URLs, a log line,
times, the same indexes, and a word index of the same words. `SameWorkWithStories` also finds the entries of other feeds
that are the same article. How text becomes words, and how two articles are compared, is what the product computes: the
loops call its functions for that. All else is theirs.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bare_refresh import Bare

from feedmill.collect.stories.same_story import find_same_story
from feedmill.collect.stories.sign_entry import sign_entries
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.refresh import IndexedWords
from feedmill.model.stories.signature import StoryEntry
from feedmill.store.search.index import tokenize_entry

IMAGES = re.compile(r"<img\b[^>]*?\bsrc=[\"']?([^\"'\s>]+)", re.I)
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
CREATE VIRTUAL TABLE search USING fts5 (title, author, words, content = texts, content_rowid = id, tokenize = ascii);
"""
STORY_SCHEMA = """
CREATE TABLE sketches (entry INTEGER PRIMARY KEY, feed TEXT, sketch TEXT);
CREATE TABLE keys (key INTEGER, entry INTEGER, PRIMARY KEY (key, entry)) WITHOUT ROWID;
CREATE TABLE stories (entry INTEGER PRIMARY KEY, story INTEGER);
CREATE INDEX of_story ON stories (story, entry);
"""
CANDIDATES = """SELECT DISTINCT sketches.entry, feed, sketch FROM keys JOIN sketches USING (entry)
  WHERE key IN (SELECT value FROM json_each(?))"""


@dataclass
class Written:
    """The texts of an entry, as the functions of the product take them."""

    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None
    enclosures: tuple[Enclosure, ...] = ()


class SameWork(Bare):
    """Stores all that our refresh stores but for stories."""

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
        _write(home, hashlib.sha256(body).hexdigest(), body)
        if not (home / "feed.json").exists():
            _write(home, "feed.json", json.dumps({"url": url}).encode())

    def inside(self, url: str, body: bytes, rows: list[tuple[Any, ...]]) -> None:
        found = [(url, row[1], n, image) for row in rows for n, image in enumerate(IMAGES.findall(row[7] or ""))]
        insert = "INSERT INTO images (feed, guid, position, url, status) VALUES (?, ?, ?, ?, 'pending')"
        self.db.executemany(insert, found)
        digest = hashlib.sha256(body).hexdigest()
        self.db.execute("INSERT OR IGNORE INTO raw (feed, path, sha256) VALUES (?, ?, ?)", (url, url + digest, digest))
        self.db.execute("INSERT INTO log (feed, at, outcome, bytes) VALUES (?, 'now', 'updated', ?)", (url, len(body)))
        last = self.db.execute("SELECT coalesce(max(id), 0) FROM texts").fetchone()[0]
        numbers = self.db.execute("SELECT guid, id FROM entries WHERE id > ? AND feed = ?", (last, url)).fetchall()
        written = {row[1]: Written(row[2], row[3], row[4], row[6], row[7]) for row in rows}
        self.index(url, {number: written[guid] for guid, number in numbers})

    def index(self, url: str, new: dict[int, Written]) -> list[IndexedWords]:
        """Indexes new entries by their ids; the words of each."""
        words = [tokenize_entry(entry) for entry in new.values()]
        added = [(number, *each.fields.values()) for number, each in zip(new, words, strict=True)]
        self.db.executemany("INSERT INTO texts VALUES (?, ?, ?, ?)", added)
        self.db.executemany("INSERT INTO search (rowid, title, author, words) VALUES (?, ?, ?, ?)", added)
        return words


class SameWorkWithStories(SameWork):
    """Also joins entries of different feeds that are the same article, to the first one that is found."""

    def make_more(self) -> None:
        super().make_more()
        self.db.executescript(STORY_SCHEMA)

    def index(self, url: str, new: dict[int, Written]) -> list[IndexedWords]:
        words = super().index(url, new)
        at = datetime.now(UTC)
        for number, signature in zip(new, sign_entries(list(new.values()), words), strict=True):
            found = self.db.execute(CANDIDATES, (json.dumps(signature.keys),)).fetchall()
            others = [StoryEntry(other, hash(feed), at, sketch) for other, feed, sketch in found]
            own = StoryEntry(number, hash(url), at, signature.sketch)
            for other in find_same_story(own, others)[:1]:
                self.db.execute("INSERT OR IGNORE INTO stories VALUES (?, ?)", (other.entry_id, other.entry_id))
                self.db.execute(
                    "INSERT INTO stories SELECT ?, story FROM stories WHERE entry = ?", (number, other.entry_id)
                )
            self.db.execute("INSERT INTO sketches VALUES (?, ?, ?)", (number, url, signature.sketch))
            self.db.executemany("INSERT INTO keys VALUES (?, ?)", [(key, number) for key in signature.keys])
        return words


def _write(folder: Path, name: str, data: bytes) -> None:
    with (folder / "partial").open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    (folder / "partial").rename(folder / name)
