"""Writes the texts of the search index: one row per entry in `search_texts`, in the same batch as the entry.

The form of the row depends on the database; see its module in this folder.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol

from sqlalchemy import text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ClauseElement, Executable
from sqlalchemy.sql.compiler import SQLCompiler

from feedmill.model.refresh import IndexedWords, NewEntry, Revision
from feedmill.store.database import Step
from feedmill.store.search.index_table import place_seconds
from feedmill.store.search.search_dialect import search_dialect
from feedmill.store.search.tokenizer import MAX_LINE, MAX_TEXT, words_of, words_of_html, words_of_url

# Characters; the fixed cost of an entry.
ENTRY_SIZE = 200


class IndexStatement(Executable, ClauseElement):
    """One of the statements of `IndexSql`; `at_once` has SQLite insert all rows by one statement."""

    inherit_cache = False

    def __init__(self, name: str, *, at_once: bool = False) -> None:
        self.name = name
        self.at_once = at_once


@compiles(IndexStatement)
def _in_dialect(statement: IndexStatement, compiler: SQLCompiler, **kw: Any) -> str:
    sql = getattr(search_dialect(compiler.dialect.name).index_sql, statement.name)
    return compiler.process(text(sql), **kw)


# In one statement: on SQLite that takes half as long, and FTS5 flushes its buffer before each one that fires a trigger.
ADD = IndexStatement("add", at_once=True)
REVISE = IndexStatement("revise", at_once=True)
ADD_MISSING = IndexStatement("add_missing")


class SearchableEntry(Protocol):
    """The texts of an entry that are searched."""

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


def steps_to_index_entries(feed_id: int, new: Sequence[NewEntry], words: Mapping[str, IndexedWords]) -> list[Step]:
    """The step that adds new entries to the index; it follows the step that stores them.

    `words` has the indexed words of those that were tokenized already, by guid.
    """
    same = {"feed_id": feed_id}
    # By date, which is the order of the table on SQLite.
    by_date = sorted(new, key=attrgetter("sort_at"))
    rows = [
        same
        | {"guid": entry.guid, "seconds": place_seconds(entry.sort_at)}
        | (words.get(entry.guid) or tokenize_entry(entry)).fields
        for entry in by_date
    ]
    return [Step(ADD, rows)]


def steps_to_index_revisions(revised: Sequence[Revision]) -> list[Step]:
    """The step that replaces the indexed text of entries by their newest text."""
    return [Step(REVISE, [{"entry": revision.entry_id} | tokenize_entry(revision).fields for revision in revised])]


def text_size(entries: Iterable[SearchableEntry]) -> int:
    """About how many characters `tokenize_entry` would read of these entries."""
    return sum(ENTRY_SIZE + len(entry.content_html or "") + len(entry.summary or "") for entry in entries)


def tokenize_entry(entry: SearchableEntry) -> IndexedWords:
    """The indexed words of an entry."""
    text = words_of_html(entry.content_html or entry.summary)
    more = words_of_url(entry.link)
    if entry.content_html and entry.summary and entry.summary != entry.content_html:
        # Stripped: PostgreSQL refuses two spaces in a row, between which it sees an empty word.
        summary = words_of_html(entry.summary)[: max(MAX_TEXT - len(text), 0)].strip()
        more = f"{summary} {more}".strip()
    return IndexedWords(
        words_of_html((entry.title or "")[:MAX_LINE]), words_of((entry.author or "")[:MAX_LINE]), text, more
    )
