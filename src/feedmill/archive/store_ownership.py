"""Which database owns the object store: an owner token in the store that its database knows.

Without it a new database, or one of two that share a bucket, would take everything there for orphans. A store that
bears no mark is marked by the first database that refreshes into it or cleans it up; afterwards it changes hands only
by `take_store_ownership`, which a person asks for.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex

from feedmill.archive.blobs import Blobs
from feedmill.errors import BlobMissing, CallerError
from feedmill.lazy_loggers import get_logger
from feedmill.store.admin.instance_settings import init_instance_setting, read_instance_setting, set_instance_setting
from feedmill.store.database import Database

log = get_logger(__name__)

OWNER_KEY = "feedmill/owner.txt"
OWNER_SETTING = "store_mark"
# How long a process relies on what it found.
CHECK_EVERY = timedelta(minutes=10)
REMEDY = (
    "give each database a prefix of its own, or make the store this database's with "
    "'feedmill restore --from-store --take-ownership'"
)


class StoreOwnedByAnother(CallerError):
    """The store has the objects of another database."""


async def ensure_store_ownership(db: Database, blobs: Blobs) -> None:
    """Marks a store that nobody has marked; raises `StoreOwnedByAnother` if it is another database's."""
    theirs = await read_owner(blobs)
    if theirs is None:
        mine = await init_instance_setting(db, OWNER_SETTING, token_hex(16))
        await blobs.put(OWNER_KEY, mine.encode(), "text/plain")
    elif theirs != await read_instance_setting(db, OWNER_SETTING):
        raise StoreOwnedByAnother(f"the object store belongs to another database: {REMEDY}")


async def owns_store(db: Database, blobs: Blobs) -> bool:
    """Whether the store bears this database's mark; changes nothing."""
    theirs = await read_owner(blobs)
    return theirs is not None and theirs == await read_instance_setting(db, OWNER_SETTING)


async def take_store_ownership(db: Database, blobs: Blobs) -> None:
    """Makes the store this database's. Whoever had it before can no longer purge it.

    The mark is a new one, written last: killed before that, the store is still the other database's.
    """
    mine = token_hex(16)
    await set_instance_setting(db, OWNER_SETTING, mine)
    await blobs.put(OWNER_KEY, mine.encode(), "text/plain")


async def read_owner(blobs: Blobs) -> str | None:
    try:
        return (await blobs.get(OWNER_KEY)).decode("ascii", "replace")
    except BlobMissing:
        return None


@dataclass(slots=True)
class OwnershipCheck:
    """Whether the store is ours, asked at most once in ten minutes; says in the log if it is not."""

    _is_ours: bool = False
    _until: datetime | None = None

    async def is_ours(self, db: Database, blobs: Blobs, now: datetime) -> bool:
        if self._until is None or not self._until - CHECK_EVERY <= now < self._until:
            self._is_ours = await self._ask(db, blobs)
            self._until = now + CHECK_EVERY
        return self._is_ours

    async def _ask(self, db: Database, blobs: Blobs) -> bool:
        try:
            await ensure_store_ownership(db, blobs)
        except StoreOwnedByAnother:
            log.error("store_owned_by_another_database", effect="no cards are written", remedy=REMEDY)
            return False
        return True
