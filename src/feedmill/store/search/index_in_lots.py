"""Indexes stored texts in lots, on databases where a lot costs less than the entries of each refresh by themselves.

A refresh stores the texts of its entries, and the database lists them as not indexed (`search_unindexed`, kept by
triggers). A lot indexes some of them and takes them off the list in one batch: a process that is killed leaves the list
as it was, and no text is indexed twice. Entries are indexed in the order of their ids, so whoever looks for what is
newer than the last entry that was found misses none.

A lot that the database refuses is halved, down to the texts that it does not take: those go without an index.
"""

from collections.abc import Sequence

from sqlalchemy import text

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.store.database import Database, Step
from feedmill.store.search.search_dialect import search_dialect
from feedmill.store.search.skip_refused import RefusedText, log_refused, write_or_halve

log = get_logger(__name__)

# Larger lots cost hardly less, and writers wait for them: 500 short texts take some 25 ms, and are half a megabyte.
LOT_SIZE = 500
LOT_BYTES = 2_000_000
# If more texts of a lot are refused, and none is taken, the fault is not theirs.
MOST_REFUSED = 5

_WAITING = text("SELECT COUNT(*) AS n FROM (SELECT 1 FROM search_unindexed LIMIT :most) AS some")
_OLDEST_WAITING = text("SELECT MIN(entry_id) AS id FROM search_unindexed")
# One after the other, so that no more texts are read than the lot has. `bytes` is the size of those before.
_NEXT_LOT = text(
    "WITH RECURSIVE lot (entry_id, number, bytes) AS (SELECT MIN(entry_id), 1, 0 FROM search_unindexed UNION ALL "
    "SELECT (SELECT MIN(entry_id) FROM search_unindexed WHERE entry_id > lot.entry_id), number + 1, "
    "bytes + (SELECT LENGTH(CAST(words AS BLOB)) FROM search_texts WHERE search_texts.entry_id = lot.entry_id) "
    "FROM lot WHERE entry_id IS NOT NULL AND number < :size AND bytes < :most_bytes) "
    "SELECT entry_id FROM lot WHERE entry_id IS NOT NULL AND bytes < :most_bytes"
)
_OF_LOT = "(SELECT entry_id FROM search_unindexed WHERE entry_id BETWEEN :first AND :last)"
# In the order of places, because FTS5 flushes its buffer before a row whose number is below that of the last one.
_INDEX = text(
    "INSERT INTO search_index (rowid, title, author, words) SELECT place, title, author, words FROM search_texts "  # noqa: S608
    f"WHERE entry_id IN {_OF_LOT} ORDER BY place"
)
_TAKE_OFF = text(f"DELETE FROM search_unindexed WHERE entry_id IN {_OF_LOT}")  # noqa: S608
# The trigger takes it off the list, and deletes nothing from the index, which does not have it.
_DROP = text(f"DELETE FROM search_texts WHERE entry_id IN {_OF_LOT}")  # noqa: S608


async def index_waiting_texts(db: Database) -> int:
    """Indexes all texts that wait, in lots; how many there were. Any number of processes may do so."""
    if not search_dialect(db.dialect_name).indexes_in_lots:
        return 0
    indexed = 0
    while ids := await _next_lot(db):
        indexed += await _index_lot(db, ids)
    return indexed


async def index_last_texts(db: Database) -> None:
    """Indexes the texts that wait, if one lot takes them all, so that a search finds what was stored just before.

    More of them are being indexed already. A search goes on without them if the database does not take the lot; the
    next run in the background halves it.
    """
    if not search_dialect(db.dialect_name).indexes_in_lots:
        return
    waiting = await _waiting(db, LOT_SIZE + 1)
    ids = await _next_lot(db) if 0 < waiting <= LOT_SIZE else []
    if not ids or len(ids) < waiting:
        return
    try:
        await _write_lot(db, ids)
    except DatabaseError as error:
        log.warning("texts_not_indexed", reason=str(error))


async def oldest_waiting_id(db: Database) -> int | None:
    """The first entry whose text waits; None if all are indexed."""
    if not search_dialect(db.dialect_name).indexes_in_lots:
        return None
    [row] = await db.query(_OLDEST_WAITING)
    return row["id"]  # type: ignore[no-any-return]


async def _waiting(db: Database, most: int) -> int:
    """How many texts wait, counted up to `most`."""
    [row] = await db.query(_WAITING, {"most": most})
    return int(row["n"])


async def _next_lot(db: Database) -> list[int]:
    """The first entries that wait, in order: as many as make a lot, and at least one."""
    rows = await db.query(_NEXT_LOT, {"size": LOT_SIZE, "most_bytes": LOT_BYTES})
    return [row["entry_id"] for row in rows]


async def _index_lot(db: Database, ids: Sequence[int]) -> int:
    """Indexes these texts, but for those that the database refuses; how many they were."""
    refused: list[RefusedText[int]] = []
    indexed = await write_or_halve(lambda some: _write_lot(db, some), ids, refused)
    if not indexed and len(refused) > MOST_REFUSED:
        raise refused[-1].error
    for entry_id, error in refused:
        await db.batch([Step(_DROP, {"first": entry_id, "last": entry_id})])
        log_refused(entry_id, error)
    return indexed


async def _write_lot(db: Database, ids: Sequence[int]) -> int:
    lot = {"first": ids[0], "last": ids[-1]}
    _, taken = await db.batch([Step(_INDEX, lot), Step(_TAKE_OFF, lot)])
    return taken
