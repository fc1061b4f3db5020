"""Adds entries to the search index that are not in it, after an upgrade or a backup load."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, exists, func, select

from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.newest_texts import newest_text, with_newest_revision
from feedmill.store.schema import entries
from feedmill.store.search.index import ADD_MISSING, tokenize_entry
from feedmill.store.search.index_completeness import is_index_incomplete, mark_index_complete
from feedmill.store.search.index_in_lots import index_waiting_texts
from feedmill.store.search.index_table import place_seconds, search_texts
from feedmill.store.search.skip_refused import RefusedText, log_refused, write_or_halve

# How many ids are scanned at once, and how many entries are added in one batch: D1 limits its statements.
WINDOW = 10_000
CHUNK_SIZE = 40
# If more texts are refused, and none is taken, the fault is not theirs.
MOST_REFUSED = 40

LAST_ID = select(func.coalesce(func.max(entries.c.id), 0).label("id"))
MISSING: Select[Any] = (
    select(
        entries.c.id,
        entries.c.sort_at,
        entries.c.digest,
        *map(newest_text, ("link", "title", "author", "summary", "content_html")),
    )
    .select_from(with_newest_revision(entries))
    .where(
        entries.c.id > bindparam("after"),
        entries.c.id <= bindparam("until"),
        ~exists().where(search_texts.c.entry_id == entries.c.id),
    )
    .order_by(entries.c.id)
    .limit(CHUNK_SIZE)
)
# No refresh changes these entries until the batch ends: it would not find the index row to update.
LOCK = select(entries.c.id).where(one_of(entries.c.id, "ids")).order_by(entries.c.id).with_for_update()


@dataclass(frozen=True, slots=True)
class _Entry:
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None


async def index_missing_entries(db: Database) -> int:
    """Adds all entries that are not in the index, in chunks; how many there were. It can be interrupted and resumed.

    Those whose text the database refuses are left out, and the index is complete without them.
    """
    # A load that ends meanwhile has entries that this run does not see.
    was_incomplete = await is_index_incomplete(db)
    [last] = await db.query(LAST_ID)
    added, refused = 0, list[RefusedText[Row]]()
    # The newest first: they are searched for most.
    for after in range(last["id"] // WINDOW * WINDOW, -1, -WINDOW):
        window = {"after": after, "until": after + WINDOW}
        while chunk := await db.query(MISSING, window):
            added += await write_or_halve(lambda some: _add(db, some), chunk, refused)
            if not added and len(refused) > MOST_REFUSED:
                raise refused[-1].error
            # Not from the start again: an entry that is changing now is left for the next run.
            window["after"] = chunk[-1]["id"]
        await index_waiting_texts(db)
    for row, error in refused:
        log_refused(row["id"], error)
    if was_incomplete:
        await mark_index_complete(db)
    return added


async def _add(db: Database, chunk: Sequence[Row]) -> int:
    await db.batch(await asyncio.to_thread(_steps, chunk))
    return len(chunk)


def _steps(chunk: Sequence[Row]) -> list[Step]:
    rows = [
        {"entry": row["id"], "digest": row["digest"], "seconds": place_seconds(from_iso(row["sort_at"]))}
        | tokenize_entry(_Entry(*(row[name] for name in _Entry.__slots__))).fields
        for row in chunk
    ]
    return [Step(LOCK, {"ids": as_list([row["id"] for row in chunk])}), Step(ADD_MISSING, rows)]
