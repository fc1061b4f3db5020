"""Indexes stored texts in lots, on databases where a lot costs less than the entries of each refresh by themselves.

A refresh stores the texts of its entries, and the database lists them as not indexed (`search_unindexed`, kept by
triggers). A lot indexes some of them and takes them off the list in one batch: a process that is killed leaves the list
as it was, and no text is indexed twice. Entries are indexed in the order of their ids, so whoever looks for what is
newer than the last entry that was found misses none.
"""

from sqlalchemy import text

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.store.database import Database, Step
from feedmill.store.search.search_dialect import search_dialect

log = get_logger(__name__)

# Larger lots cost hardly less, and writers wait for them: 500 short texts take some 25 ms, long ones more.
LOT_SIZE = 500
_FIRST = "(SELECT entry_id FROM search_unindexed ORDER BY entry_id LIMIT :size)"
_WAITING = text("SELECT COUNT(*) AS n FROM (SELECT 1 FROM search_unindexed LIMIT :most) AS some")
# In the order of places, because FTS5 flushes its buffer before a row whose number is below that of the last one.
_INDEX = text(
    "INSERT INTO search_index (rowid, title, author, words) SELECT place, title, author, words FROM search_texts "  # noqa: S608
    f"WHERE entry_id IN {_FIRST} ORDER BY place"
)
_TAKE_OFF = text(f"DELETE FROM search_unindexed WHERE entry_id IN {_FIRST}")  # noqa: S608


async def index_waiting_texts(db: Database) -> int:
    """Indexes all texts that wait, in lots; how many there were. Any number of processes may do so."""
    if not search_dialect(db.dialect_name).indexes_in_lots:
        return 0
    indexed = 0
    while await _waiting(db, 1):
        indexed += await _index_lot(db)
    return indexed


async def index_last_texts(db: Database) -> None:
    """Indexes the texts that wait, if one lot takes them all, so that a search finds what was stored just before.

    More of them are being indexed already. A search goes on without them if the database does not take a write.
    """
    if not search_dialect(db.dialect_name).indexes_in_lots or not 0 < await _waiting(db, LOT_SIZE + 1) <= LOT_SIZE:
        return
    try:
        await _index_lot(db)
    except DatabaseError as error:
        log.warning("texts_not_indexed", reason=str(error))


async def _waiting(db: Database, most: int) -> int:
    """How many texts wait, counted up to `most`."""
    [row] = await db.query(_WAITING, {"most": most})
    return int(row["n"])


async def _index_lot(db: Database) -> int:
    size = {"size": LOT_SIZE}
    _, taken = await db.batch([Step(_INDEX, size), Step(_TAKE_OFF, size)])
    return taken
