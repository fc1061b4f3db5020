"""A library large enough for realistic query plans: many feeds, many entries, several readers."""

from datetime import UTC, datetime, timedelta

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import (
    entries,
    feeds,
    filter_effects,
    filters,
    story_entries,
    subscriptions,
    unread,
    unread_lists,
    users,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
FEEDS = 1_000
ENTRIES = 30_000
# Every second entry is of this feed.
BUSY_FEED = 1
# Alice subscribes to all feeds and has read nothing; the others have subscriptions only.
ALICE = 1
OTHERS = range(2, 12)
OTHERS_EACH = 100

ADD_FEED = insert(feeds, "id", "url", "host", "created_at")
ADD_ENTRY = insert(
    entries, "id", "feed_id", "guid", "sort_at", "refresh_token", "digest", "first_seen_at", "last_seen_at", "summary"
)
ADD_USER = insert(users, "id", "name", "unread_list_id", "created_at")
ADD_LIST = insert(unread_lists, "id", "user_id", "created_at")
ADD_SUBSCRIPTION = insert(subscriptions, "user_id", "feed_id", "id", "unread_count", "created_at")
ADD_UNREAD = insert(unread, "list_id", "sort_at", "entry_id", "subscription_id")

AT = to_iso(START)


async def add_library(db: Database) -> None:
    """Ids are predictable: entry `n` was written in minute `n`, and a user's list has the user's id."""
    people = [ALICE, *OTHERS]
    numbers = range(1, ENTRIES + 1)
    await db.batch(
        [
            Step(ADD_FEED, [_feed(number) for number in range(1, FEEDS + 1)]),
            Step(ADD_ENTRY, [_entry(number) for number in numbers]),
            Step(ADD_USER, [_user(user) for user in people]),
            Step(ADD_LIST, [{"id": user, "user_id": user, "created_at": AT} for user in people]),
            Step(ADD_SUBSCRIPTION, [_subscription(ALICE, feed_id) for feed_id in range(1, FEEDS + 1)]),
            Step(ADD_SUBSCRIPTION, [_subscription(user, n) for user in OTHERS for n in range(1, OTHERS_EACH + 1)]),
            Step(ADD_UNREAD, [_unread(ALICE, number) for number in numbers]),
        ]
    )


async def add_stories(db: Database) -> None:
    """Every tenth entry is the same article as the one before."""
    rows = [{"entry_id": n, "story_id": n - n % 10} for n in range(10, ENTRIES + 1) if n % 10 < 2]
    await db.batch([Step(insert(story_entries, "entry_id", "story_id"), rows)])
    await db.exec("ANALYZE")


async def add_raised(db: Database, step: int = 3) -> None:
    """A filter of Alice's has raised every third entry, the newest included."""
    row = {"id": 1, "user_id": ALICE, "name": "Raised", "query": "x", "actions": "{}", "created_at": AT}
    of_filter = {"user_id": ALICE, "action": "raise", "filter_id": 1, "at": AT}
    rows = [of_filter | {"entry_id": n} for n in range(step, ENTRIES + 1, step)]
    await db.batch([Step(insert(filters, *row), row), Step(insert(filter_effects, *rows[0]), rows)])
    await db.exec("ANALYZE")


async def add_analysed_library(db: Database) -> None:
    """The same, with the statistics that SQLite's planner uses."""
    await add_library(db)
    await db.exec("ANALYZE")


def feed_of(entry: int) -> int:
    return BUSY_FEED if entry % 2 else entry // 2 % FEEDS + 1


def subscription_id(user: int, feed_id: int) -> int:
    return user * 1_000_000 + feed_id


def sort_at(entry: int) -> str:
    return to_iso(START + timedelta(minutes=entry))


def _feed(number: int) -> dict[str, object]:
    return {"id": number, "url": f"https://example.org/{number}", "host": "example.org", "created_at": AT}


def _entry(number: int) -> dict[str, object]:
    return {
        "id": number,
        "feed_id": feed_of(number),
        "guid": str(number),
        "sort_at": sort_at(number),
        "refresh_token": "t",
        "digest": "d",
        "first_seen_at": AT,
        "last_seen_at": AT,
        "summary": "Some words on what it is about. " * 5,
    }


def _user(number: int) -> dict[str, object]:
    return {"id": number, "name": str(number), "unread_list_id": number, "created_at": AT}


def _subscription(user: int, feed_id: int) -> dict[str, object]:
    number = subscription_id(user, feed_id)
    return {"id": number, "user_id": user, "feed_id": feed_id, "unread_count": 15, "created_at": AT}


def _unread(user: int, entry: int) -> dict[str, object]:
    number = subscription_id(user, feed_of(entry))
    return {"list_id": user, "sort_at": sort_at(entry), "entry_id": entry, "subscription_id": number}
