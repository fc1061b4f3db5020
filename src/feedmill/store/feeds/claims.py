"""Claims: the right to refresh a feed, taken by a conditional update and held with a lease.

A claim has a lease: when its holder dies, the claim expires and the feed is due again. A holder that resumes after
its lease finds another token in the row, and the claim check of its write rolls the write back.

No index contains a column of the claim, so that PostgreSQL can claim a feed without writing its indexes. Claimed feeds
are found by their ids, which the holder of a claim knows.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, case, null, or_, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.feed import Claim, Feed
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.feeds.read_feeds import feeds_of_ids, to_feed
from feedmill.store.leases import new_claim_token, take_with_token
from feedmill.store.schema import feeds

LEASE = timedelta(seconds=180)
# Times further ahead than these come from a clock that was wrong and has been set back since.
FAR_CLAIM = timedelta(days=1)
FAR_FETCH = timedelta(days=30)
# Looking for them reads all feeds: no index has the claims.
REPAIR_EVERY = timedelta(hours=1)

is_free = or_(feeds.c.claim_token.is_(None), feeds.c.claimed_until <= bindparam("now"))
DUE = (
    select(feeds.c.id)
    .where(feeds.c.next_fetch_at <= bindparam("now"), is_free)
    .order_by(feeds.c.next_fetch_at)
    .limit(bindparam("most"))
)
ANY_FETCHED = select(feeds.c.id).where(feeds.c.next_fetch_at.is_not(None)).limit(1)
TAKE = (
    feeds.update()
    .where(one_of(feeds.c.id, "ids"), is_free)
    .values(claim_token=bindparam("token"), claimed_until=bindparam("until"))
)
TAKE_DUE = TAKE.where(feeds.c.next_fetch_at <= bindparam("now"))
# Without next_fetch_why, which only pages show: it takes most of the memory while ten thousand jobs wait.
_CLAIMED_COLUMNS = [null().label(column.name) if column is feeds.c.next_fetch_why else column for column in feeds.c]
_claimed = (one_of(feeds.c.id, "ids"), feeds.c.claim_token == bindparam("token"))
CLAIMED = select(*_CLAIMED_COLUMNS).where(*_claimed).order_by(feeds.c.next_fetch_at, feeds.c.id)
# For a scheduler that passes the claims on: the worker reads the feed anyway.
CLAIMED_MINIMAL = CLAIMED.with_only_columns(feeds.c.id, feeds.c.url, feeds.c.created_at)
TAKE_OVER = (
    feeds.update()
    .where(one_of(feeds.c.id, "ids"), feeds.c.claim_token == bindparam("old"))
    .values(claim_token=bindparam("token"), claimed_until=bindparam("until"))
)
BY_TOKEN = select(*_CLAIMED_COLUMNS).where(
    feeds.c.id == bindparam("feed_id"), feeds.c.claim_token == bindparam("token")
)
RENEW = feeds.update().where(*_claimed).values(claimed_until=bindparam("until"))
RELEASE = feeds.update().where(*_claimed).values(claim_token=None, claimed_until=None)
FORGET_FAR_CLAIMS = (
    feeds.update()
    .where(feeds.c.claim_token.is_not(None), feeds.c.claimed_until > bindparam("far"))
    .values(claim_token=None, claimed_until=None)
)
FORGET_FAR_FETCHES = (
    feeds.update()
    .where(feeds.c.next_fetch_at > bindparam("far"))
    .values(next_fetch_at=bindparam("at"), next_fetch_why=message_to_stored(Message("schedule.clock_ahead")))
)
# NULL, which the column rejects, unless the claim still holds: then the whole batch is rolled back.
CLAIM_CHECK = case((feeds.c.claim_token == bindparam("token"), 0), else_=None)


async def claim_due_feeds(db: Database, now: datetime, most: int, lease: timedelta = LEASE) -> list[Claim]:
    """Claims up to `most` due feeds, the longest waiting first."""
    due = await _due(db, now, most)
    token, rows = await take_with_token(db, TAKE_DUE, CLAIMED, RELEASE, due, now, lease)
    return [Claim(to_feed(row), token) for row in rows]


async def is_any_feed_due(db: Database, now: datetime) -> bool:
    """Whether there is a feed that `claim_due_feeds` would claim."""
    return bool(await _due(db, now, 1))


async def is_any_feed_fetched(db: Database) -> bool:
    """Whether there is a feed that is fetched at all: neither paused nor at rest."""
    return bool(await db.query(ANY_FETCHED))


async def claim_due_feeds_minimal(db: Database, now: datetime, most: int, lease: timedelta = LEASE) -> list[Claim]:
    """As `claim_due_feeds`, for a scheduler that passes the claims on: the feeds have only their URLs."""
    due = await _due(db, now, most)
    token, rows = await take_with_token(db, TAKE_DUE, CLAIMED_MINIMAL, RELEASE, due, now, lease)
    return [Claim(Feed(row["id"], row["url"], from_iso(row["created_at"])), token) for row in rows]


async def claim_feeds(db: Database, ids: Sequence[int], now: datetime, lease: timedelta = LEASE) -> list[Claim]:
    """Claims those of these feeds that are not claimed, due or not."""
    token, rows = await take_with_token(db, TAKE, CLAIMED, RELEASE, ids, now, lease)
    return [Claim(to_feed(row), token) for row in rows]


async def read_claim(db: Database, feed_id: int, token: str) -> Claim | None:
    """The claim that `token` holds on the feed; None if it no longer does."""
    rows = await db.query(BY_TOKEN, {"feed_id": feed_id, "token": token})
    return Claim(to_feed(rows[0]), token) if rows else None


async def take_over_claims(
    db: Database, ids: Sequence[int], token: str, now: datetime, lease: timedelta = LEASE
) -> list[Claim]:
    """Takes over the claims that `token` holds on these feeds, with a new token: only one of two callers gets them."""
    new_token = new_claim_token()
    values = {"ids": as_list(list(ids)), "old": token, "token": new_token, "until": to_iso(now + lease)}
    [taken] = await db.batch([Step(TAKE_OVER, values)])
    rows = await db.query(CLAIMED, values) if taken else []
    return [Claim(to_feed(row), new_token) for row in rows]


ALREADY_RUNNING = Message("job.already_running")
FEED_DELETED = Message("job.feed_deleted")


async def why_unclaimed(db: Database, ids: Sequence[int]) -> dict[int, Message]:
    """Why each of these feeds could not be claimed: `already_running` or `feed_deleted`."""
    existing_ids = {feed.id for feed in await feeds_of_ids(db, list(ids))} if ids else set()
    return {id: ALREADY_RUNNING if id in existing_ids else FEED_DELETED for id in ids}


async def renew_claims(db: Database, token: str, ids: Sequence[int], now: datetime, lease: timedelta = LEASE) -> int:
    """Renews the lease of those of these feeds that are claimed with `token`; how many there are."""
    [held] = await db.batch([Step(RENEW, {"ids": as_list(list(ids)), "token": token, "until": to_iso(now + lease)})])
    return held


async def release_claims(db: Database, claims: Sequence[Claim]) -> None:
    """Releases feeds that were not refreshed; they are due as before."""
    by_token: dict[str, list[int]] = {}
    for claim in claims:
        by_token.setdefault(claim.token, []).append(claim.feed.id)
    await release_claimed_feeds(db, by_token)


async def release_claimed_feeds(db: Database, ids_by_token: Mapping[str, Sequence[int]]) -> None:
    """Releases those of these feeds that are still claimed with their token."""
    rows = [{"ids": as_list(list(ids)), "token": token} for token, ids in ids_by_token.items()]
    await db.batch([Step(RELEASE, row) for row in rows])


class FarTimesRepair:
    """Repairs times that a wrong clock has set far in the future: at the start, then once an hour."""

    def __init__(self, db: Database, clock: Callable[[], datetime]) -> None:
        self._db, self._clock = db, clock
        self._next: datetime | None = None

    async def run_if_due(self) -> None:
        now = self._clock()
        # A clock that was set back is the reason for a repair.
        if self._next is None or not self._next - REPAIR_EVERY <= now < self._next:
            await repair_far_future_times(self._db, now)
            self._next = now + REPAIR_EVERY


async def repair_far_future_times(db: Database, now: datetime) -> None:
    """Releases claims, and makes feeds due, whose times a wrong clock has set far in the future."""
    fetches = {"far": to_iso(now + FAR_FETCH), "at": to_iso(now)}
    await db.batch([Step(FORGET_FAR_CLAIMS, {"far": to_iso(now + FAR_CLAIM)}), Step(FORGET_FAR_FETCHES, fetches)])


async def _due(db: Database, now: datetime, most: int) -> list[int]:
    return [row["id"] for row in await db.query(DUE, {"now": to_iso(now), "most": most})]
