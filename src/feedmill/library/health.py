"""How one feed fares: what came of its fetches, when it publishes, what went wrong, and what can be done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.collect.cadence import Habit, automatic
from feedmill.collect.explain import explain
from feedmill.library.subscriptions import find_subscription
from feedmill.model.feed import PRIVATE_MARK, Feed
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.feeds import feeds_of_ids
from feedmill.store.fetch_log import SUCCESSES, Fetch, former_urls_of, latest_fetches, tally_fetches
from feedmill.store.fetch_sums import OutcomeSum, failures_since, sum_by_outcome
from feedmill.store.kept_bodies import KeptAnswer, answers_before
from feedmill.store.publishing import entries_by_hour
from feedmill.store.validators import forget_validators

SHOWN_FETCHES = 100
SHOWN_ANSWERS = 60
SHOWN_FAILURES = 500
REPORTED = 20
MONTH = timedelta(days=30)
RHYTHM_DAYS = timedelta(days=90)
NEVER = OutcomeSum(0, 0)


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """Failures of one kind: how many, by day, and the last of them."""

    kind: str
    count: int
    by_day: Mapping[str, int]
    last: Fetch


@dataclass(frozen=True, slots=True)
class Health:
    """Fetches and answers stand newest first; `hours` counts entries by the beginning of their hour.

    `former` are the addresses where the feed was, each with the moment until then.
    """

    subscription: Subscription
    feed: Feed
    fetches: Sequence[Fetch]
    sums: Mapping[str, OutcomeSum]
    errors: Sequence[ErrorClass]
    hours: Mapping[datetime, int]
    answers: Sequence[KeptAnswer]
    sentences: Sequence[str]
    former: Sequence[tuple[str, datetime]]
    usual_interval: timedelta

    @property
    def fetched(self) -> int:
        """How often in a month."""
        return sum(one.fetches for one in self.sums.values())

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.sums.values())

    @property
    def share_not_modified(self) -> float | None:
        """Of the answers that came, how many had no body because nothing had changed; None without answers."""
        answered = sum(self.sums.get(name, NEVER).fetches for name in SUCCESSES)
        return self.sums.get("not_modified", NEVER).fetches / answered if answered else None

    @property
    def published(self) -> int:
        return sum(self.hours.values())


async def read_health(db: Database, user_id: int, subscription_id: int, now: datetime) -> Health:
    """How a feed that the user subscribes to fares; `NotFound` for any other."""
    subscription = await find_subscription(db, user_id, subscription_id)
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    month_ago = now - MONTH
    fetches = await latest_fetches(db, feed.id, SHOWN_FETCHES)
    tally, former = await tally_fetches(db, feed.id, month_ago), await former_urls_of(db, feed.id)
    return Health(
        subscription=subscription,
        feed=feed,
        fetches=fetches,
        sums=await sum_by_outcome(db, feed.id, month_ago),
        errors=classify(await failures_since(db, feed.id, month_ago, SHOWN_FAILURES)),
        hours=await entries_by_hour(db, feed.id, now - RHYTHM_DAYS),
        answers=await answers_before(db, feed.id, None, SHOWN_ANSWERS),
        sentences=explain(feed, fetches, tally, former, now),
        former=[(url.partition(PRIVATE_MARK)[0], until) for url, until in former],
        usual_interval=automatic(now, Habit(feed.rhythm, feed.last_entry_at)),
    )


def classify(failures: Sequence[Fetch]) -> list[ErrorClass]:
    """Failures by their kind, given newest first; the kind that happened last comes first."""
    kinds: dict[str, list[Fetch]] = {}
    for fetch in failures:
        kinds.setdefault(fetch.outcome, []).append(fetch)
    return [ErrorClass(kind, len(found), _by_day(found), found[0]) for kind, found in kinds.items()]


def _by_day(fetches: Sequence[Fetch]) -> dict[str, int]:
    days: dict[str, int] = {}
    for fetch in fetches:
        day = f"{fetch.at:%Y-%m-%d}"
        days[day] = days.get(day, 0) + 1
    return days


async def ask_for_all(db: Database, user_id: int, subscription_id: int) -> Subscription:
    """Has the next fetch of the feed bring a whole answer, whatever its server called it last time."""
    subscription = await find_subscription(db, user_id, subscription_id)
    await forget_validators(db, subscription.feed_id)
    return subscription


def report(health: Health, now: datetime) -> str:
    """What to paste where one asks for help: plain lines, in English, without anybody's login."""
    mine = health.subscription
    head = [f"Feed: {mine.url}", f"State: {mine.state}, {health.feed.consecutive_failures} failures in a row"]
    head += [f"Report of {now:%Y-%m-%d %H:%M} UTC", "", *health.sentences, "", "The last fetches:"]
    lines = [_line(fetch) for fetch in health.fetches[:REPORTED]] or ["none"]
    kept = [f"{answer.at:%Y-%m-%d %H:%M:%S}  {answer.size} B  {answer.entry_count} entries  {answer.parse_result}"
            for answer in health.answers[:REPORTED]]  # fmt: skip
    return "\n".join([*head, *lines, "", "The last answers that differ:", *(kept or ["none"]), ""])


def _line(fetch: Fetch) -> str:
    status = f"HTTP {fetch.http_status}" if fetch.http_status else ""
    parts = (f"{fetch.at:%Y-%m-%d %H:%M:%S}", fetch.outcome, status, f"{fetch.bytes} B", f"{fetch.ms} ms",
             f"{fetch.new_entries} new", fetch.message)  # fmt: skip
    return "  ".join(part for part in parts if part)
