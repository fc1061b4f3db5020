"""Records which database owns the object store, by a token that is in the store and in its database.

Without it a new database, or one of two that share a bucket, would treat all objects there as orphans. The first
database that refreshes into a store without a token, or cleans it up, becomes its owner; afterwards only
`take_store_ownership` changes the owner, at a person's request.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex

from feedmill.archive.blobs import Blobs
from feedmill.errors import BlobMissing, CallerError
from feedmill.lazy_loggers import get_logger
from feedmill.store.database import Database
from feedmill.store.instance_state import init_instance_value, read_instance_value, set_instance_value

log = get_logger(__name__)

OWNER_KEY = "feedmill/owner.txt"
OWNER_SETTING = "store_mark"
# How long a process relies on its last check.
CHECK_EVERY = timedelta(minutes=10)
REMEDY = (
    "give each database a prefix of its own, or make the store this database's with "
    "'feedmill restore --from-store --take-ownership'"
)


class StoreOwnedByAnother(CallerError):
    """The store belongs to another database."""


async def ensure_store_ownership(db: Database, blobs: Blobs) -> None:
    """Takes a store without an owner; raises `StoreOwnedByAnother` if it belongs to another database."""
    store_token = await read_owner(blobs)
    if store_token is None:
        own_token = await init_instance_value(db, OWNER_SETTING, token_hex(16))
        await blobs.put(OWNER_KEY, own_token.encode(), "text/plain")
    elif store_token != await read_instance_value(db, OWNER_SETTING):
        raise StoreOwnedByAnother(f"the object store belongs to another database: {REMEDY}")


async def owns_store(db: Database, blobs: Blobs) -> bool:
    """Whether the store belongs to this database; changes nothing."""
    store_token = await read_owner(blobs)
    return store_token is not None and store_token == await read_instance_value(db, OWNER_SETTING)


async def take_store_ownership(db: Database, blobs: Blobs) -> None:
    """Makes this database the owner of the store. The previous owner can no longer purge it.

    The token is new, and is written to the store last: until then the store still belongs to the other database.
    """
    own_token = token_hex(16)
    await set_instance_value(db, OWNER_SETTING, own_token)
    await blobs.put(OWNER_KEY, own_token.encode(), "text/plain")


async def read_owner(blobs: Blobs) -> str | None:
    try:
        return (await blobs.get(OWNER_KEY)).decode("ascii", "replace")
    except BlobMissing:
        return None


@dataclass(slots=True)
class OwnershipCheck:
    """Checks at most once in ten minutes whether the store is ours; logs an error if it is not."""

    _is_ours: bool = False
    _valid_until: datetime | None = None

    async def is_ours(self, db: Database, blobs: Blobs, now: datetime) -> bool:
        if self._valid_until is None or not self._valid_until - CHECK_EVERY <= now < self._valid_until:
            self._is_ours = await self._check(db, blobs)
            self._valid_until = now + CHECK_EVERY
        return self._is_ours

    async def _check(self, db: Database, blobs: Blobs) -> bool:
        try:
            await ensure_store_ownership(db, blobs)
        except StoreOwnedByAnother:
            log.error("store_owned_by_another_database", effect="feed descriptors are not stored", hint=REMEDY)
            return False
        return True
