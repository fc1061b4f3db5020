"""From an answer to a decision: what is written and when the feed is due next. Pure."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import assert_never

import msgspec

from feedmill.collect import cadence, keepable
from feedmill.collect.cadence import Habit, Rules, Wishes
from feedmill.model.feed import Feed
from feedmill.model.outcome import (
    Deferred,
    Freshness,
    Gone,
    HttpError,
    NotModified,
    Refused,
    Response,
    Retryable,
    Throttled,
)
from feedmill.model.parsed import ParsedFeed
from feedmill.model.refresh import (
    Changes,
    Decision,
    Failed,
    FailureKind,
    FeedFacts,
    Move,
    Postponed,
    RawBody,
    Schedule,
    Unchanged,
    Updated,
    Visit,
)
from feedmill.store.blocked_hosts import WHY
from feedmill.store.feeds import host_of

# A permanent redirect is believed when it holds for this many fetches.
MOVES_TO_SETTLE = 3
GONE_FOR_GOOD = timedelta(hours=20)
GONE_PROBE = timedelta(days=1)
# What `feeds.url` keeps.
LONGEST_URL = 2048


@dataclass(frozen=True, slots=True)
class Moment:
    """What a decision depends on besides the feed and its answer."""

    now: datetime
    elapsed: timedelta
    rules: Rules
    dice: float
    our_network_is_down: bool = False


class KeptWishes(msgspec.Struct, frozen=True, omit_defaults=True):
    """A feed's own wishes as they are kept in its row, for the answers that don't repeat them (304)."""

    seconds: int = 0
    name: str = ""
    skip_hours: list[int] = []
    skip_days: list[int] = []


def updated(
    feed: Feed,
    response: Response,
    parsed: ParsedFeed,
    changes: Changes,
    raw: RawBody | None,
    sha256: str,
    moment: Moment,
) -> Updated:
    kept = _kept_wishes(parsed)
    dates = [entry.published_at or entry.updated_at for entry in parsed.entries]
    past = [date for date in dates if date is not None and date <= moment.now]
    newest = max([*past, *(entry.sort_at for entry in changes.new)], default=feed.last_entry_at)
    habit = Habit(cadence.rhythm(moment.now, past), newest)
    return Updated(
        visit=_visit(moment, response.status, response.received_bytes, response.certificate_until),
        schedule=_healthy(feed, habit, kept, response, moment, overflows=changes.overflows),
        changes=changes,
        facts=facts_of(parsed),
        raw=raw,
        entry_count=len(parsed.entries),
        etag=response.validators.etag,
        last_modified=response.validators.last_modified,
        body_sha256=sha256,
        last_entry_at=newest,
        rhythm=habit.rhythm,
        wishes=msgspec.json.encode(kept).decode() if kept != KeptWishes() else None,
        move=_move(feed, response.permanent_url),
    )


def unchanged(feed: Feed, answer: Response | NotModified, moment: Moment) -> Unchanged:
    kept = msgspec.json.decode(feed.wishes, type=KeptWishes) if feed.wishes else KeptWishes()
    received = answer.received_bytes if isinstance(answer, Response) else 0
    return Unchanged(
        visit=_visit(moment, answer.status, received, answer.certificate_until),
        schedule=_healthy(feed, Habit(feed.rhythm, feed.last_entry_at), kept, answer, moment),
        etag=answer.validators.etag,
        last_modified=answer.validators.last_modified,
        move=_move(feed, answer.permanent_url),
    )


def not_understood(
    feed: Feed, response: Response, what: str, raw: RawBody | None, sha256: str, moment: Moment
) -> Failed:
    return Failed(
        visit=_visit(moment, response.status, response.received_bytes),
        schedule=_failing(feed, what, moment),
        kind="not_a_feed",
        message=what,
        raw=raw,
        body_sha256=sha256,
    )


def took_too_long(feed: Feed, moment: Moment) -> Failed:
    what = "given up, because it took too long"
    return _unreachable(feed, "timeout", what, _visit(moment, None), moment)


def not_stored(feed: Feed, decision: Decision, reason: str, moment: Moment) -> Failed:
    """The database understood us and refused; the raw body, if one was kept, is listed all the same."""
    what = f"its entries can't be stored: {reason}"
    raw = decision.raw if isinstance(decision, Updated | Failed) else None
    visit = _visit(moment, None) if isinstance(decision, Postponed) else decision.visit
    return Failed(visit, _failing(feed, what, moment), "not_stored", what, raw=raw, gone_since=feed.gone_since)


def not_fetched(
    feed: Feed, outcome: Gone | Throttled | Retryable | Refused | HttpError | Deferred, moment: Moment
) -> Decision:
    visit = _visit(moment, outcome.status)
    match outcome:
        case Deferred():
            return Postponed(Schedule(outcome.until, "its host is busy, and it waits for a turn"))
        case Throttled():
            return _throttled(feed, outcome, visit, moment)
        case Gone():
            return _gone(feed, visit, moment)
        case Retryable():
            return _unreachable(feed, outcome.kind, outcome.detail, visit, moment)
        case Refused(kind="blocked") if _is_at_home(feed, outcome):
            return Failed(visit, Schedule(None, WHY), "blocked", WHY, counted=False, gone_since=feed.gone_since)
        case Refused():
            kind: FailureKind = "too_large" if outcome.kind == "too_large" else "refused"
            return Failed(visit, _failing(feed, outcome.detail, moment), kind, outcome.detail)
        case HttpError():
            what = f"HTTP {outcome.status}"
            return Failed(visit, _failing(feed, what, moment), "http_4xx", what)
    assert_never(outcome)


def _is_at_home(feed: Feed, outcome: Refused) -> bool:
    """Whether it was the feed's own host that was to be asked, and not one that it was sent to."""
    return host_of(outcome.final_url).rstrip(".") == host_of(feed.url).rstrip(".")


def _throttled(feed: Feed, outcome: Throttled, visit: Visit, moment: Moment) -> Failed:
    what = f"HTTP {outcome.status}"
    schedule = _failing(feed, what, moment)
    if outcome.retry_after is not None:
        schedule = cadence.after_throttling(moment.now, outcome.retry_after, outcome.status, moment.dice)
        # A server that asks for seconds again and again gets our own patience, one step behind.
        own = cadence.after_failure(moment.now, feed.consecutive_failures, what, moment.rules, moment.dice)
        schedule = max(schedule, own, key=_due_at) if feed.consecutive_failures else schedule
    return Failed(visit, schedule, "throttled", what)


def _gone(feed: Feed, visit: Visit, moment: Moment) -> Failed:
    what = "HTTP 410: its server says it is gone for good"
    since = feed.gone_since or moment.now
    if moment.now - since >= GONE_FOR_GOOD:
        schedule = Schedule(None, "disabled: gone for good (HTTP 410, twice a day apart)")
        return Failed(visit, schedule, "gone", what, disables=True, gone_since=since)
    schedule = Schedule(
        moment.now + GONE_PROBE, "asked once more in a day, because its server says that it is gone for good (HTTP 410)"
    )
    return Failed(visit, schedule, "gone", what, gone_since=since)


def _unreachable(feed: Feed, kind: FailureKind, what: str, visit: Visit, moment: Moment) -> Failed:
    if moment.our_network_is_down:
        schedule = cadence.after_outage(moment.now, moment.dice)
        return Failed(visit, schedule, kind, what, counted=False, gone_since=feed.gone_since)
    return Failed(visit, _failing(feed, what, moment), kind, what, gone_since=feed.gone_since)


def _due_at(schedule: Schedule) -> datetime:
    return schedule.at or datetime.max.replace(tzinfo=UTC)


def _failing(feed: Feed, what: str, moment: Moment) -> Schedule:
    return cadence.after_failure(moment.now, feed.consecutive_failures + 1, what, moment.rules, moment.dice)


def _healthy(
    feed: Feed,
    habit: Habit,
    kept: KeptWishes,
    answer: Response | NotModified,
    moment: Moment,
    *,
    overflows: bool = False,
) -> Schedule:
    wishes = _wishes(kept, answer.freshness, moment.now)
    rules = replace(moment.rules, floor=cadence.PRIVATE_FLOOR) if answer.is_private else moment.rules
    return cadence.after_success(moment.now, habit, feed.interval, wishes, rules, moment.dice, overflows=overflows)


def _wishes(kept: KeptWishes, freshness: Freshness, now: datetime) -> Wishes:
    asked = [(timedelta(seconds=kept.seconds), kept.name)]
    if freshness.max_age is not None:
        asked.append((freshness.max_age, "Cache-Control: max-age"))
    elif freshness.expires is not None:
        asked.append((freshness.expires - now, "Expires"))
    hint, name = max(asked)
    wanted = hint if hint > timedelta() else None
    return Wishes(wanted, name, frozenset(kept.skip_hours), frozenset(kept.skip_days))


def _kept_wishes(parsed: ParsedFeed) -> KeptWishes:
    asked = [(parsed.ttl, "ttl"), (parsed.update_period, "sy:updatePeriod")]
    seconds, name = max(((int(length.total_seconds()), name) for length, name in asked if length), default=(0, ""))
    return KeptWishes(seconds, name, sorted(parsed.skip_hours), sorted(parsed.skip_days))


def _move(feed: Feed, permanent_url: str | None) -> Move:
    # A private feed stays where its password was meant for, and apart from everybody else's.
    if permanent_url is None or feed.is_private:
        return Move()
    if permanent_url == feed.url or len(permanent_url) > LONGEST_URL:
        return Move()
    times = feed.moved_times + 1 if permanent_url == feed.moved_to else 1
    return Move(permanent_url, times, settled=times >= MOVES_TO_SETTLE)


def facts_of(parsed: ParsedFeed) -> FeedFacts:
    """What the feed says of itself."""
    return FeedFacts(
        title=keepable.text(parsed.title),
        site_url=keepable.address(parsed.link),
        description=keepable.text(parsed.description, keepable.LONGEST_LIST),
        language=keepable.language(parsed.language),
        icon_url=keepable.address(parsed.icon_url),
        image_url=keepable.address(parsed.image_url),
        hub_url=keepable.address(parsed.hub_url),
    )


def _visit(moment: Moment, status: int | None, received: int = 0, certificate_until: datetime | None = None) -> Visit:
    return Visit(moment.now, moment.elapsed, status, received, certificate_until)
