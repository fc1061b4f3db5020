"""Lists and finds the raw bodies of a user's feeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.collect.parsing.decode import decode
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.max_id import MAX_ID
from feedmill.model.raw_body import RawBodyDetails
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import from_iso
from feedmill.store.archive.raw_body_history import raw_bodies_before, raw_body_of_feed
from feedmill.store.database import Database
from feedmill.store.entries.visible_entries import visible_entry


@dataclass(frozen=True, slots=True)
class RawBodyPage:
    """A page of raw bodies; `more` is the time before which there are more, or None."""

    items: Sequence[RawBodyDetails]
    more: datetime | None


async def list_raw_bodies(db: Database, of: Subscription, before: datetime | None, most: int) -> RawBodyPage:
    """The raw bodies of a feed that were kept before that moment, the newest first."""
    found = await raw_bodies_before(db, of.feed_id, before, most + 1)
    return RawBodyPage(found[:most], found[most - 1].at if len(found) > most else None)


async def find_raw_body(db: Database, user_id: int, subscription_id: int, body_id: int) -> RawBodyDetails:
    """A raw body of a feed of the user's; raises `NotFound` for any other."""
    subscription = await find_subscription(db, user_id, subscription_id)
    found = await raw_body_of_feed(db, subscription.feed_id, body_id) if body_id <= MAX_ID else None
    if found is None:
        raise NotFound(Message("error.no_such_raw_body"))
    return found


async def find_raw_body_of_entry(db: Database, user_id: int, entry_id: int) -> tuple[int, RawBodyDetails | None]:
    """The id of the subscription that shows the entry, and the raw body that brought it, if it is still kept."""
    entry = await visible_entry(db, user_id, entry_id)
    if entry is None or entry.subscription_id is None:
        raise NotFound(Message("error.no_such_entry"))
    # The last body that was kept when the entry was first seen: a body with new entries is always kept.
    seen = from_iso(entry.first_seen_at) + timedelta(milliseconds=1)
    found = await raw_bodies_before(db, entry.feed_id, seen, 1)
    return entry.subscription_id, found[0] if found else None


async def previous_raw_body(db: Database, of: Subscription, body: RawBodyDetails) -> RawBodyDetails | None:
    """The raw body before this one; None for the first."""
    found = await raw_bodies_before(db, of.feed_id, body.at, 1)
    return found[0] if found else None


def decode_raw_body(data: bytes, content_type: str | None) -> str:
    """The text of a raw body, whatever its encoding."""
    return decode(data, content_type).text


def days_left(body: RawBodyDetails, keep: timedelta, now: datetime) -> int:
    """The number of days for which a raw body is still kept."""
    return max(0, (body.at + keep - now).days)
