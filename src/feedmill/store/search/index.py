"""The search index: one row per entry, written in the same batch as the entry.

One row an entry in `search_texts`, whose form is the database's: SQLite and D1 keep the words, from which triggers
make the FTS5 index; PostgreSQL keeps a tsvector; MySQL keeps words that say where they stand (`tz` title, `az`
author, `xz` text), because its index has no weights and drops what is short or common. The row's `place` is its time
in seconds and the entry's id in one number, so that an index walks by date.
"""

# ruff: noqa: S608 (what is put together here are the constants of this file)

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import floor
from operator import attrgetter
from typing import Any, Protocol

from sqlalchemy import BigInteger, column, table, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ClauseElement, Executable
from sqlalchemy.sql.compiler import SQLCompiler

from feedmill.model.refresh import NewEntry, Revision
from feedmill.store.database import Step
from feedmill.store.search.tokenizer import MAX_LINE, words_of, words_of_html, words_of_url

# Two entries of one second are told apart by their ids, which are below this.
IDS_PER_SECOND = 2**31
# The seconds that fit before them in 64 bits: 1901 to 2106.
EARLIEST, LATEST = -(2**31), 2**32 - 2
# An entry with hardly any text takes as long as so many characters.
ENTRY_SIZE = 200

# What all forms of it have. Not among the tables of the schema: a backup leaves it out, because it can be made again.
search_texts = table("search_texts", column("place", BigInteger), column("entry_id", BigInteger), column("words"))

_ENTRY_ID = "(SELECT id FROM entries WHERE feed_id = :feed_id AND guid = :guid)"
_PLACE = f":seconds * {IDS_PER_SECOND} + "
_VECTOR = (
    "setweight(to_tsvector('simple', CAST(:title AS text)), 'A') || "
    "setweight(to_tsvector('simple', CAST(:author AS text)), 'B') || to_tsvector('simple', CAST(:words AS text))"
)
_MARKED = (
    "CONCAT('tz', REPLACE(:title, ' ', ' tz'), ' az', REPLACE(:author, ' ', ' az'), ' xz', REPLACE(:words, ' ', ' xz'))"
)


class DialectStatement(Executable, ClauseElement):
    """A statement that each database has its own form of; `at_once` has SQLite insert all rows by one statement."""

    inherit_cache = False

    def __init__(self, sqlite: str, postgresql: str, mysql: str, *, at_once: bool = False) -> None:
        self.at_once = at_once
        self.forms = {"sqlite": text(sqlite), "postgresql": text(postgresql), "mysql": text(mysql)}


@compiles(DialectStatement)
def _own_form(statement: DialectStatement, compiler: SQLCompiler, **kw: Any) -> str:
    return compiler.process(statement.forms[compiler.dialect.name], **kw)


_PG_PLACE = f"CAST(:seconds AS bigint) * {IDS_PER_SECOND} + "
# At once, because FTS5 writes down what it has collected before each statement that fires a trigger.
ADD = DialectStatement(
    at_once=True,
    sqlite="INSERT INTO search_texts (place, entry_id, title, author, words) "
    f"VALUES ({_PLACE}{_ENTRY_ID}, {_ENTRY_ID}, :title, :author, :words)",
    postgresql="INSERT INTO search_texts (place, entry_id, words) "
    f"VALUES ({_PG_PLACE}{_ENTRY_ID}, {_ENTRY_ID}, {_VECTOR})",
    mysql=f"INSERT INTO search_texts (place, entry_id, words) VALUES ({_PLACE}{_ENTRY_ID}, {_ENTRY_ID}, {_MARKED})",
)
# SQLite's form does not update, because D1 then would take a statement an entry; where nothing is to be updated,
# it adds what was missing.
REVISE = DialectStatement(
    at_once=True,
    sqlite="INSERT INTO search_texts (place, entry_id, title, author, words) VALUES "
    f"((SELECT MAX(CAST(strftime('%s', sort_at) AS INTEGER), {EARLIEST}) * {IDS_PER_SECOND} + id "
    "FROM entries WHERE id = :entry), "
    ":entry, :title, :author, :words) ON CONFLICT (entry_id) DO UPDATE "
    "SET title = excluded.title, author = excluded.author, words = excluded.words",
    postgresql=f"UPDATE search_texts SET words = {_VECTOR} WHERE entry_id = :entry",
    mysql=f"UPDATE search_texts SET words = {_MARKED} WHERE entry_id = :entry",
)
# Only if its text is still the one that was read, and nobody has added it meanwhile.
_IF_UNCHANGED = (
    "FROM entries WHERE id = :entry AND digest = :digest "
    "AND NOT EXISTS (SELECT 1 FROM search_texts WHERE entry_id = :entry)"
)
ADD_MISSING = DialectStatement(
    sqlite="INSERT INTO search_texts (place, entry_id, title, author, words) "
    f"SELECT {_PLACE}id, id, :title, :author, :words {_IF_UNCHANGED}",
    postgresql=f"INSERT INTO search_texts (place, entry_id, words) SELECT {_PG_PLACE}id, id, {_VECTOR} {_IF_UNCHANGED}",
    mysql=f"INSERT INTO search_texts (place, entry_id, words) SELECT {_PLACE}id, id, {_MARKED} {_IF_UNCHANGED}",
)


class SearchableEntry(Protocol):
    """What has something to search in."""

    @property
    def link(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...
    @property
    def author(self) -> str | None: ...
    @property
    def summary(self) -> str | None: ...
    @property
    def content_html(self) -> str | None: ...


def steps_to_index_entries(feed_id: int, new: Sequence[NewEntry]) -> list[Step]:
    """The step that makes new entries searchable; it comes after the one that stores them."""
    same = {"feed_id": feed_id}
    # By date: FTS5 writes down what it has collected before a row whose number is below the last one's.
    by_date = sorted(new, key=attrgetter("sort_at"))
    rows = [
        same | {"guid": entry.guid, "seconds": place_seconds(entry.sort_at)} | indexed_words(entry) for entry in by_date
    ]
    return [Step(ADD, rows)]


def steps_to_index_revisions(revised: Sequence[Revision]) -> list[Step]:
    """The step by which entries are found by their newest text."""
    return [Step(REVISE, [{"entry": revision.entry_id} | indexed_words(revision) for revision in revised])]


def place_seconds(sort_at: datetime) -> int:
    """The time as a place begins with it."""
    return min(max(floor(sort_at.timestamp()), EARLIEST), LATEST)


def text_size(entries: Iterable[SearchableEntry]) -> int:
    """About how many characters `indexed_words` would read of these entries."""
    return sum(ENTRY_SIZE + len(entry.content_html or "") + len(entry.summary or "") for entry in entries)


def indexed_words(entry: SearchableEntry) -> dict[str, str]:
    """What can be found of an entry, as parameters."""
    body = entry.content_html or ""
    if entry.summary and entry.summary != body:
        body = f"{body} {entry.summary}"
    return {
        "title": words_of_html((entry.title or "")[:MAX_LINE]),
        "author": words_of((entry.author or "")[:MAX_LINE]),
        "words": f"{words_of_html(body)} {words_of_url(entry.link)}".strip(),
    }
