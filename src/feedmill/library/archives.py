"""What is kept of a person's feeds: answers byte for byte, images, and the room that they take."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.archive.blobs import Blobs
from feedmill.collect.decode import decode
from feedmill.errors import NotFound
from feedmill.library.images import image_url, images_to_keep
from feedmill.library.subscriptions import find_subscription
from feedmill.model.image import ImageStatus
from feedmill.model.subscription import Subscription
from feedmill.model.times import from_text
from feedmill.store.database import Database
from feedmill.store.kept_bodies import KeptAnswer, answer_of_feed, answers_before
from feedmill.store.kept_images import entries_without_images, hurry_waiting, images_before, retry_failed
from feedmill.store.retention import count_expired_of
from feedmill.store.shown import whole_entry
from feedmill.store.space import Space, came_in_since, space_of_user
from feedmill.store.subscriptions import subscriptions_of

MOST_ID = 2**53 - 1
# Of the newest entries; asking again goes on with the others.
ASKED_AT_ONCE = 200
MONTH = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class AnswersPage:
    """`more` is the moment before which there are more; None when these are the last."""

    items: Sequence[KeptAnswer]
    more: datetime | None


@dataclass(frozen=True, slots=True)
class KeptImage:
    """`url` is where an archived one can be loaded from; None for one that is not."""

    id: int
    entry_id: int
    entry_title: str
    original_url: str
    url: str | None
    size: int
    attempts: int
    last_error: str | None
    next_attempt_at: str | None


@dataclass(frozen=True, slots=True)
class FeedSpace:
    feed: Subscription
    space: Space


@dataclass(frozen=True, slots=True)
class Forecast:
    """Bytes that came in in a month, and those that are kept after another one like it."""

    came_in: int
    in_a_month: int


async def kept_answers(db: Database, feed_id: int, before: datetime | None, most: int) -> AnswersPage:
    found = await answers_before(db, feed_id, before, most + 1)
    return AnswersPage(found[:most], found[most - 1].at if len(found) > most else None)


async def find_answer(db: Database, user_id: int, subscription_id: int, body_id: int) -> KeptAnswer:
    """A kept answer of a feed of the user's; `NotFound` for any other."""
    subscription = await find_subscription(db, user_id, subscription_id)
    found = await answer_of_feed(db, subscription.feed_id, body_id) if body_id <= MOST_ID else None
    if found is None:
        raise NotFound("there is no such answer")
    return found


async def find_source(db: Database, user_id: int, entry_id: int) -> tuple[int, KeptAnswer | None]:
    """The subscription that an entry is read by, and the answer that brought it, as long as that is kept."""
    entry = await whole_entry(db, user_id, entry_id)
    if entry is None or entry["subscription_id"] is None:
        raise NotFound("there is no such entry")
    # What was kept last when the entry was first seen: an answer with something new in it is always kept.
    seen = from_text(entry["first_seen_at"]) + timedelta(milliseconds=1)
    found = await answers_before(db, entry["feed_id"], seen, 1)
    return entry["subscription_id"], found[0] if found else None


async def answer_before(db: Database, feed_id: int, answer: KeptAnswer) -> KeptAnswer | None:
    """The one that was kept before it; None for the first."""
    found = await answers_before(db, feed_id, answer.at, 1)
    return found[0] if found else None


def in_text(data: bytes, content_type: str | None) -> str:
    """A kept answer as characters, in whatever encoding it is."""
    return decode(data, content_type).text


async def images_page(
    db: Database, blobs: Blobs, feed_id: int, status: ImageStatus, before: int | None, most: int
) -> tuple[list[KeptImage], int | None]:
    """Images in that state, the newest first, and the number before which there are more."""
    rows = await images_before(db, feed_id, status, before or MOST_ID, most + 1)
    keys = [row["object_key"] if status is ImageStatus.SUCCESS else None for row in rows[:most]]
    urls = [await image_url(blobs, key) if key else None for key in keys]
    names = ("original_url", "size", "attempts", "last_error", "next_attempt_at")
    items = [
        KeptImage(row["id"], row["entry_id"], row["title"] or "", url=url, **{name: row[name] for name in names})
        for row, url in zip(rows, urls, strict=False)
    ]
    return items, items[-1].id if len(rows) > most else None


async def try_failed_again(db: Database, user_id: int, subscription_id: int, now: datetime) -> int:
    """Has the failed images of a feed of the user's tried anew; how many."""
    return await retry_failed(db, (await find_subscription(db, user_id, subscription_id)).feed_id, now)


async def fetch_missing(db: Database, user_id: int, subscription_id: int, now: datetime) -> int:
    """Has those images fetched now that wait for later, or that nobody asked for so far; how many."""
    feed_id = (await find_subscription(db, user_id, subscription_id)).feed_id
    unasked = await entries_without_images(db, feed_id, ASKED_AT_ONCE)
    steps = [step for entry_id in unasked for step in await images_to_keep(db, entry_id, now)]
    await db.batch(steps)
    return await hurry_waiting(db, feed_id, now) + sum(len(step.params) for step in steps)


async def measure_feeds(db: Database, user_id: int) -> list[FeedSpace]:
    """What each feed of the user's takes up, the largest first."""
    kept = await space_of_user(db, user_id)
    spaces = [FeedSpace(each, kept.get(each.feed_id, Space())) for each in await subscriptions_of(db, user_id)]
    return sorted(spaces, key=lambda each: (-each.space.bytes, each.feed.title.casefold()))


async def forecast(
    db: Database, user_id: int, feeds: Sequence[FeedSpace], raw_keep: timedelta, now: datetime
) -> Forecast:
    """What a month from now is kept, if as much comes in as in the last one."""
    came = await came_in_since(db, user_id, now - MONTH)
    raw = sum(each.space.raw_bytes for each in feeds)
    images = sum(each.space.image_bytes for each in feeds)
    # Answers go after some days, so that there are never more than come in meanwhile.
    then = min(raw + came.raw_bytes, round(came.raw_bytes * (raw_keep / MONTH)))
    return Forecast(came.bytes, images + came.image_bytes + then)


async def would_expire(
    db: Database, user_id: int, subscription_id: int, kept: timedelta, now: datetime
) -> tuple[int, int]:
    """How many entries of a feed of the user's would go if they were kept for so long; and how many images."""
    return await count_expired_of(db, (await find_subscription(db, user_id, subscription_id)).feed_id, kept, now)


def days_left(answer: KeptAnswer, keep: timedelta, now: datetime) -> int:
    """For how many days an answer is still kept."""
    return max(0, (answer.at + keep - now).days)
