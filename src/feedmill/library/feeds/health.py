"""The health of one feed: fetches, failures, publishing times, and a report to paste."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.collect.scheduling.cadence import PublishingPattern, automatic_interval
from feedmill.collect.scheduling.explain_schedule import explain_schedule
from feedmill.i18n.messages import Message
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.entry_lists import ListPosition
from feedmill.model.feed import Feed, without_owner
from feedmill.model.raw_body import RawBodyDetails
from feedmill.model.refresh import SUCCESSFUL_OUTCOMES, FetchLogLine
from feedmill.model.subscription import Subscription
from feedmill.model.syndication.push import HubSubscription
from feedmill.store.archive.raw_body_history import raw_bodies_before
from feedmill.store.database import Database
from feedmill.store.feeds.fetch_log import fetches_before, latest_fetches, tally_fetches
from feedmill.store.feeds.fetch_totals import OutcomeTotals, failures_since, totals_by_outcome
from feedmill.store.feeds.lifecycle import forget_validators
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.feeds.statistics import entries_by_hour
from feedmill.store.feeds.url_history import former_urls_of_feed
from feedmill.store.hubs.subscriptions import subscription_of_feed

SHOWN_FETCHES = 100
SHOWN_BODIES = 60
SHOWN_FAILURES = 500
REPORTED = 20
MONTH = timedelta(days=30)
RHYTHM_DAYS = timedelta(days=90)
NO_FETCHES = OutcomeTotals(0, 0)


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one kind: how many, by day, and the last of them."""

    kind: str
    count: int
    by_day: Mapping[str, int]
    last: FetchLogLine


@dataclass(frozen=True, slots=True)
class FeedHealth:
    """Fetches and answers are newest first; `hours` counts entries by the start of their hour.

    `former` are the former URLs of the feed, each with the time until which it was there.
    """

    subscription: Subscription
    feed: Feed
    fetches: Sequence[FetchLogLine]
    sums: Mapping[str, OutcomeTotals]
    errors: Sequence[FailureGroup]
    hours: Mapping[datetime, int]
    raw_bodies: Sequence[RawBodyDetails]
    sentences: Sequence[Message]
    former: Sequence[tuple[str, datetime]]
    usual_interval: timedelta
    hub: HubSubscription | None

    @property
    def fetched(self) -> int:
        """Fetches in the last month."""
        return sum(one.fetches for one in self.sums.values())

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.sums.values())

    @property
    def share_not_modified(self) -> float | None:
        """The share of successful responses that were 304; None without responses."""
        answered = sum(self.sums.get(name, NO_FETCHES).fetches for name in SUCCESSFUL_OUTCOMES)
        return self.sums.get("not_modified", NO_FETCHES).fetches / answered if answered else None

    @property
    def published(self) -> int:
        return sum(self.hours.values())


async def read_feed_health(db: Database, user_id: int, subscription_id: int, now: datetime) -> FeedHealth:
    """The health of a feed that the user subscribes to; `NotFound` for any other."""
    subscription = await find_subscription(db, user_id, subscription_id)
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    month_ago = now - MONTH
    fetches = await latest_fetches(db, feed.id, SHOWN_FETCHES)
    tally, former = await tally_fetches(db, feed.id, month_ago), await former_urls_of_feed(db, feed.id)
    return FeedHealth(
        subscription=subscription,
        feed=feed,
        fetches=fetches,
        sums=await totals_by_outcome(db, feed.id, month_ago),
        errors=group_failures(await failures_since(db, feed.id, month_ago, SHOWN_FAILURES)),
        hours=await entries_by_hour(db, feed.id, now - RHYTHM_DAYS),
        raw_bodies=await raw_bodies_before(db, feed.id, None, SHOWN_BODIES),
        sentences=explain_schedule(feed, fetches, tally, former, now),
        former=[(without_owner(url), until) for url, until in former],
        usual_interval=automatic_interval(now, PublishingPattern(feed.usual_gap, feed.last_entry_at)),
        hub=await subscription_of_feed(db, feed.id),
    )


async def last_failure(db: Database, subscription: Subscription) -> FetchLogLine | None:
    """The last fetch of a feed that fails at present; None if it does not, or if its log no longer tells."""
    if not subscription.consecutive_failures:
        return None
    last = await last_fetch(db, subscription)
    return last if last is not None and last.failed else None


async def last_fetch(db: Database, subscription: Subscription) -> FetchLogLine | None:
    """The newest line of the feed's log."""
    lines = await latest_fetches(db, subscription.feed_id, 1)
    return lines[0] if lines else None


async def fetch_log_page(
    db: Database, user_id: int, subscription_id: int, position: ListPosition | None, most: int
) -> list[tuple[ListPosition, FetchLogLine]]:
    """The log of a feed that the user subscribes to, before that position, the newest fetch first."""
    subscription = await find_subscription(db, user_id, subscription_id)
    return await fetches_before(db, subscription.feed_id, position, most)


def group_failures(failures: Sequence[FetchLogLine]) -> list[FailureGroup]:
    """Failures by kind, the most recent kind first; `failures` are newest first."""
    kinds: dict[str, list[FetchLogLine]] = {}
    for fetch in failures:
        kinds.setdefault(fetch.failure_name, []).append(fetch)
    return [FailureGroup(kind, len(found), _by_day(found), found[0]) for kind, found in kinds.items()]


def _by_day(fetches: Sequence[FetchLogLine]) -> dict[str, int]:
    days: dict[str, int] = {}
    for fetch in fetches:
        day = f"{fetch.at:%Y-%m-%d}"
        days[day] = days.get(day, 0) + 1
    return days


async def force_full_fetch(db: Database, user_id: int, subscription_id: int) -> Subscription:
    """Drops the ETag and Last-Modified of the feed, so that the next fetch returns the whole feed."""
    subscription = await find_subscription(db, user_id, subscription_id)
    await forget_validators(db, subscription.feed_id)
    return subscription


def health_report(health: FeedHealth, now: datetime) -> str:
    """A report to paste when asking for help: plain text, in English, without logins."""
    subscription = health.subscription
    head = [
        f"Feed: {subscription.url}",
        f"State: {subscription.state}, {health.feed.consecutive_failures} failures in a row",
    ]
    head += [f"Report of {now:%Y-%m-%d %H:%M} UTC", "", *map(str, health.sentences), "", "The last fetches:"]
    lines = [_line(fetch) for fetch in health.fetches[:REPORTED]] or ["none"]
    kept = [_raw_body_line(raw_body) for raw_body in health.raw_bodies[:REPORTED]]
    return "\n".join([*head, *lines, "", "The last answers that differ:", *(kept or ["none"]), ""])


def _raw_body_line(raw_body: RawBodyDetails) -> str:
    found = f"{raw_body.entry_count} entries  {raw_body.problem or raw_body.parse_result}"
    return f"{raw_body.at:%Y-%m-%d %H:%M:%S}  {raw_body.size} B  {found}"


def _line(fetch: FetchLogLine) -> str:
    status = f"HTTP {fetch.http_status}" if fetch.http_status else ""
    parts = (
        f"{fetch.at:%Y-%m-%d %H:%M:%S}",
        fetch.outcome,
        status,
        f"{fetch.bytes} B",
        f"{fetch.ms} ms",
        f"{fetch.new_entries} new",
        str(fetch.message or ""),
    )
    return "  ".join(part for part in parts if part)
