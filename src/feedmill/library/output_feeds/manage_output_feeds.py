"""Creates, lists, opens and revokes output feeds; none shows more than what it is created with may read.

The secret is a part of the address and 256 bits long. An output feed that is created with an API key ends with it.
"""

from datetime import datetime
from secrets import token_urlsafe

from feedmill.encryption import Encryption
from feedmill.errors import BadInput, CallerError, LimitExceeded, NotAllowed, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.output_feeds.find_list import find_list_name
from feedmill.library.users.sign_in_limits import AttemptSource, count_attempt
from feedmill.model.syndication.output_feed import OutputFeed, OutputList, OutputListKind
from feedmill.model.user import POOLS, READ, Caller, RequestOrigin
from feedmill.store.database import Database
from feedmill.store.entries.fill_deferred_entries import fill_deferred, fill_first_deferred
from feedmill.store.output_feeds.output_feeds import (
    OutputFeedHolder,
    add_output_feed,
    find_output_feed_holder,
    find_valid_output_feed,
    output_feeds_of,
    record_output_feed_use,
    revoke_output_feed_of_user,
)
from feedmill.store.users.api_keys import secret_digest

MAX_OUTPUT_FEEDS = 200
LONGEST_NAME = 190
# Ties an encrypted value to its column.
ENCRYPTION_PURPOSE = "output_feeds.announced_secret"
# Guessed addresses are counted apart from passwords.
GUESS_CHANNEL = "output feeds"


class OutputFeedRevoked(CallerError):
    """The address was that of an output feed, which was revoked."""

    code = "revoked"


async def create_output_feed(
    db: Database,
    who: Caller,
    wanted: OutputList,
    name: str | None,
    now: datetime,
    announce_with: Encryption | None = None,
) -> tuple[str, OutputFeed]:
    """The secret, which is not stored and cannot be shown again, and the feed; without a name, it has that of the list.

    With `announce_with`, the secret is stored encrypted as well, so that a WebSub hub can be told the address.
    """
    if who.api_key is not None and who.api_key.parent_key_id is not None:
        raise NotAllowed(Message("error.key_makes_no_output_feeds"))
    missing = {POOLS if wanted.kind is OutputListKind.POOL else READ} - who.scopes
    if missing:
        raise NotAllowed(Message("error.scopes_beyond", scopes=", ".join(missing)))
    own_name = await find_list_name(db, who, wanted)
    title = _checked_name(name or own_name or str(Message(f"output_list.{wanted.kind}")))
    if len(await output_feeds_of(db, who.user.id, now)) >= MAX_OUTPUT_FEEDS:
        raise LimitExceeded(Message("error.too_many_output_feeds", most=MAX_OUTPUT_FEEDS))
    secret = token_urlsafe(32)
    announced = announce_with.encrypt(secret, ENCRYPTION_PURPOSE) if announce_with else None
    return secret, await add_output_feed(db, who, title, wanted, secret_digest(secret), announced, now)


async def list_output_feeds(db: Database, who: Caller, now: datetime) -> list[OutputFeed]:
    """The caller's valid output feeds, the newest first."""
    return await output_feeds_of(db, who.user.id, now)


async def revoke_output_feed(db: Database, who: Caller, output_feed_id: int, now: datetime) -> None:
    """Revokes an output feed of the caller's; raises `NotFound`, also for others'."""
    if not await revoke_output_feed_of_user(db, who.user.id, output_feed_id, now):
        raise NotFound(Message("error.no_such_output_feed"))


async def open_output_feed(
    db: Database, secret: str, origin: RequestOrigin, now: datetime
) -> tuple[Caller, OutputFeed]:
    """The owner and the feed with this secret; raises `OutputFeedRevoked` for one that was revoked.

    A secret that never was one is counted as a guess: `NotFound`, or `LimitExceeded` after many. The right address is
    never refused for the guesses of others.
    """
    found = await find_output_feed_holder(db, secret_digest(secret), now)
    if found is None:
        await count_attempt(db, AttemptSource("", origin.address, GUESS_CHANNEL), now)
        raise NotFound(Message("error.no_such_output_feed"))
    if found.is_revoked:
        raise OutputFeedRevoked(Message("error.output_feed_revoked"))
    if not found.is_active:
        raise NotFound(Message("error.no_such_output_feed"))
    await record_output_feed_use(db, found.feed, origin, now)
    await fill_first_deferred(db, found.user.id)
    return _reader(found), found.feed


async def owner_of_output_feed(db: Database, output_feed_id: int, now: datetime) -> Caller | None:
    """The owner of a valid output feed; None if there is none with this id."""
    found = await find_valid_output_feed(db, output_feed_id, now)
    if found is None:
        return None
    await fill_deferred(db, found.user.id)
    return _reader(found)


def _reader(found: OutputFeedHolder) -> Caller:
    """Whoever reads the feed: its owner, with no more than the right to read and to take from pools."""
    return Caller(found.user, frozenset({READ, POOLS}))


def _checked_name(name: str) -> str:
    title = " ".join(name.split())[:LONGEST_NAME].strip()
    if not title or not title.isprintable():
        raise BadInput(Message("error.output_feed_name", most=LONGEST_NAME), field="name")
    return title
