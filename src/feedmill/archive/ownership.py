"""Whose store it is: the store carries a mark that its database knows.

Without it a new database, or one of two that share a bucket, would take everything there for orphans.
"""

from secrets import token_hex

from feedmill.archive.blobs import Blobs
from feedmill.errors import BlobMissing, CallerError
from feedmill.store.database import Database
from feedmill.store.facts import change_fact, keep_fact, read_fact

MARK = "feedmill/owner.txt"
FACT = "store_mark"


class ForeignStore(CallerError):
    """The store has the objects of another database."""


async def own_store(db: Database, blobs: Blobs) -> None:
    """Marks a store that nobody has marked; raises `ForeignStore` if it is another database's."""
    theirs = await read_mark(blobs)
    if theirs is None:
        mine = await keep_fact(db, FACT, token_hex(16))
        await blobs.put(MARK, mine.encode(), "text/plain")
    elif theirs != await read_fact(db, FACT):
        raise ForeignStore(
            "the object store belongs to another database: give each a prefix of its own, or make this database its "
            "own with 'feedmill restore --from-store'"
        )


async def adopt_store(db: Database, blobs: Blobs) -> None:
    """Makes the store this database's, whoever had it before."""
    theirs = await read_mark(blobs)
    if theirs is not None:
        await change_fact(db, FACT, theirs)
    await own_store(db, blobs)


async def read_mark(blobs: Blobs) -> str | None:
    try:
        return (await blobs.get(MARK)).decode("ascii", "replace")
    except BlobMissing:
        return None
