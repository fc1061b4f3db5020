"""Decides from a fetch outcome what is written and when the feed is due next. Pure."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import assert_never

import msgspec

from feedmill.collect.entries import storable_fields
from feedmill.collect.scheduling import cadence
from feedmill.collect.scheduling.cadence import CadenceSettings, PollingHints, PublishingPattern
from feedmill.i18n.messages import Message
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import (
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
from feedmill.model.hosts import host_of
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.model.refresh import (
    EntryDiff,
    Failed,
    FailureKind,
    FeedMetadata,
    FeedMove,
    FetchStats,
    Postponed,
    RawBody,
    RefreshDecision,
    Schedule,
    Unchanged,
    Updated,
)
from feedmill.store.admin.blocked_hosts import BLOCKED_HOST_REASON

NoResponse = Gone | Throttled | Retryable | Refused | HttpError | Deferred
# A permanent redirect is believed when it holds for this many fetches.
FETCHES_UNTIL_MOVE = 3
GONE_FOR_GOOD = timedelta(hours=20)
GONE_PROBE = timedelta(days=1)
# What `feeds.url` keeps.
LONGEST_URL = 2048


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """What a decision depends on besides the feed and its answer."""

    now: datetime
    elapsed: timedelta
    rules: CadenceSettings
    dice: float
    our_network_is_down: bool = False


class StoredPollingHints(msgspec.Struct, frozen=True, omit_defaults=True):
    """A feed's own wishes as they are kept in its row, for the answers that don't repeat them (304)."""

    seconds: int = 0
    name: str = ""
    skip_hours: list[int] = []
    skip_days: list[int] = []


def decide_updated(
    feed: Feed,
    response: Response,
    parsed: ParsedFeed,
    changes: EntryDiff,
    raw: RawBody | None,
    sha256: str,
    moment: DecisionContext,
) -> Updated:
    kept = _stored_hints(parsed)
    dates = [entry.published_at or entry.updated_at for entry in parsed.entries]
    past = [date for date in dates if date is not None and date <= moment.now]
    newest = max([*past, *(entry.sort_at for entry in changes.new)], default=feed.last_entry_at)
    habit = PublishingPattern(cadence.median_gap(moment.now, past), newest)
    return Updated(
        visit=_visit(moment, response.status, response.received_bytes, response.certificate_until),
        schedule=_schedule_after_success(feed, habit, kept, response, moment, overflows=changes.overflows),
        changes=changes,
        facts=feed_facts(parsed),
        raw=raw,
        entry_count=len(parsed.entries),
        etag=response.validators.etag,
        last_modified=response.validators.last_modified,
        body_sha256=sha256,
        last_entry_at=newest,
        rhythm=habit.rhythm,
        wishes=msgspec.json.encode(kept).decode() if kept != StoredPollingHints() else None,
        move=observed_move(feed, response.permanent_url),
    )


def decide_truncated(feed: Feed, whole: Updated, moment: DecisionContext) -> Updated:
    """The decision for a document that ends too early, from that for a complete one.

    Its validators are not kept, or the complete version would hide behind a 304.
    """
    times = feed.truncated_times + 1
    schedule = cadence.after_truncation(moment.now, times, whole.schedule, moment.rules, moment.dice)
    return replace(whole, schedule=schedule, etag=None, last_modified=None, truncated=True)


def decide_unchanged(feed: Feed, answer: Response | NotModified, moment: DecisionContext) -> Unchanged:
    kept = msgspec.json.decode(feed.wishes, type=StoredPollingHints) if feed.wishes else StoredPollingHints()
    received = answer.received_bytes if isinstance(answer, Response) else 0
    return Unchanged(
        visit=_visit(moment, answer.status, received, answer.certificate_until),
        schedule=_schedule_after_success(
            feed, PublishingPattern(feed.rhythm, feed.last_entry_at), kept, answer, moment
        ),
        etag=answer.validators.etag,
        last_modified=answer.validators.last_modified,
        move=observed_move(feed, answer.permanent_url),
    )


def decide_moved_away(feed: Feed, answer: Response | NotModified, moment: DecisionContext) -> Unchanged:
    """The answer is another feed's: none of it is stored here, so the validators stay as they are."""
    return replace(decide_unchanged(feed, answer, moment), etag=feed.etag, last_modified=feed.last_modified)


def decide_not_a_feed(
    feed: Feed, response: Response, what: Message, raw: RawBody | None, sha256: str, moment: DecisionContext
) -> Failed:
    return Failed(
        visit=_visit(moment, response.status, response.received_bytes),
        schedule=_schedule_after_failure(feed, what, moment),
        kind="not_a_feed",
        message=what,
        raw=raw,
        body_sha256=sha256,
    )


def decide_timeout(feed: Feed, moment: DecisionContext) -> Failed:
    what = Message("fetch.given_up")
    return _unreachable(feed, "timeout", what, _visit(moment, None), moment)


def decide_not_stored(feed: Feed, decision: RefreshDecision, reason: str, moment: DecisionContext) -> Failed:
    """The database understood us and refused; the raw body, if one was kept, is listed all the same."""
    what = Message("fetch.not_stored", reason=reason)
    raw = decision.raw if isinstance(decision, Updated | Failed) else None
    visit = _visit(moment, None) if isinstance(decision, Postponed) else decision.visit
    return Failed(
        visit, _schedule_after_failure(feed, what, moment), "not_stored", what, raw=raw, gone_since=feed.gone_since
    )


def decide_not_fetched(feed: Feed, outcome: NoResponse, moment: DecisionContext) -> RefreshDecision:
    visit = _visit(moment, outcome.status)
    match outcome:
        case Deferred():
            return Postponed(Schedule(outcome.until, Message("schedule.host_busy")))
        case Throttled():
            return _throttled(feed, outcome, visit, moment)
        case Gone():
            return _gone(feed, visit, moment)
        case Retryable():
            return _unreachable(feed, outcome.kind, outcome.detail, visit, moment)
        case Refused(kind="blocked") if _is_own_host(feed, outcome):
            return Failed(
                visit,
                Schedule(None, BLOCKED_HOST_REASON),
                "blocked",
                BLOCKED_HOST_REASON,
                counted=False,
                gone_since=feed.gone_since,
            )
        case Refused():
            kind: FailureKind = "too_large" if outcome.kind == "too_large" else "refused"
            return Failed(visit, _schedule_after_failure(feed, outcome.detail, moment), kind, outcome.detail)
        case HttpError():
            what = Message("fetch.http_status", status=outcome.status)
            return Failed(visit, _schedule_after_failure(feed, what, moment), "http_4xx", what)
    assert_never(outcome)


def _is_own_host(feed: Feed, outcome: Refused) -> bool:
    """Whether it was the feed's own host that was to be asked, and not one that it was sent to."""
    return host_of(outcome.final_url) == host_of(feed.url)


def _throttled(feed: Feed, outcome: Throttled, visit: FetchStats, moment: DecisionContext) -> Failed:
    what = Message("fetch.http_status", status=outcome.status)
    schedule = _schedule_after_failure(feed, what, moment)
    if outcome.retry_after is not None:
        schedule = cadence.after_throttling(moment.now, outcome.retry_after, outcome.status, moment.dice)
        # A server that asks for seconds again and again gets our own patience, one step behind.
        own = cadence.after_failure(moment.now, feed.consecutive_failures, what, moment.rules, moment.dice)
        schedule = max(schedule, own, key=_due_at) if feed.consecutive_failures else schedule
    return Failed(visit, schedule, "throttled", what)


def _gone(feed: Feed, visit: FetchStats, moment: DecisionContext) -> Failed:
    what = Message("fetch.gone")
    since = feed.gone_since or moment.now
    if moment.now - since >= GONE_FOR_GOOD:
        schedule = Schedule(None, Message("schedule.disabled_gone"))
        return Failed(visit, schedule, "gone", what, disables=True, gone_since=since)
    schedule = Schedule(moment.now + GONE_PROBE, Message("schedule.gone_probe"))
    return Failed(visit, schedule, "gone", what, gone_since=since)


def _unreachable(feed: Feed, kind: FailureKind, what: Message, visit: FetchStats, moment: DecisionContext) -> Failed:
    if moment.our_network_is_down:
        schedule = cadence.after_outage(moment.now, moment.dice)
        return Failed(visit, schedule, kind, what, counted=False, gone_since=feed.gone_since)
    return Failed(visit, _schedule_after_failure(feed, what, moment), kind, what, gone_since=feed.gone_since)


def _due_at(schedule: Schedule) -> datetime:
    return schedule.at or datetime.max.replace(tzinfo=UTC)


def _schedule_after_failure(feed: Feed, what: Message, moment: DecisionContext) -> Schedule:
    return cadence.after_failure(moment.now, feed.consecutive_failures + 1, what, moment.rules, moment.dice)


def _schedule_after_success(
    feed: Feed,
    habit: PublishingPattern,
    kept: StoredPollingHints,
    answer: Response | NotModified,
    moment: DecisionContext,
    *,
    overflows: bool = False,
) -> Schedule:
    wishes = _polling_hints(kept, answer.freshness, moment.now)
    rules = replace(moment.rules, floor=cadence.PRIVATE_FLOOR) if answer.is_private else moment.rules
    return cadence.after_success(moment.now, habit, feed.interval, wishes, rules, moment.dice, overflows=overflows)


def _polling_hints(kept: StoredPollingHints, freshness: Freshness, now: datetime) -> PollingHints:
    asked = [(timedelta(seconds=kept.seconds), kept.name)]
    if freshness.max_age is not None:
        asked.append((freshness.max_age, "Cache-Control: max-age"))
    elif freshness.expires is not None:
        asked.append((freshness.expires - now, "Expires"))
    hint, name = max(asked)
    wanted = hint if hint > timedelta() else None
    return PollingHints(wanted, name, frozenset(kept.skip_hours), frozenset(kept.skip_days))


def _stored_hints(parsed: ParsedFeed) -> StoredPollingHints:
    asked = [(parsed.ttl, "ttl"), (parsed.update_period, "sy:updatePeriod")]
    seconds, name = max(((int(length.total_seconds()), name) for length, name in asked if length), default=(0, ""))
    return StoredPollingHints(seconds, name, sorted(parsed.skip_hours), sorted(parsed.skip_days))


def observed_move(feed: Feed, permanent_url: str | None) -> FeedMove:
    """What the redirects of this answer and of those before it come to."""
    # A private feed stays where its password was meant for, and apart from everybody else's.
    if permanent_url is None or feed.is_private:
        return FeedMove()
    if permanent_url == feed.url or len(permanent_url) > LONGEST_URL:
        return FeedMove()
    times = feed.moved_times + 1 if permanent_url == feed.moved_to else 1
    return FeedMove(permanent_url, times, settled=times >= FETCHES_UNTIL_MOVE)


def feed_facts(parsed: ParsedFeed) -> FeedMetadata:
    """What the feed says of itself."""
    return FeedMetadata(
        title=storable_fields.text(parsed.title),
        site_url=storable_fields.storable_link(parsed.link),
        description=storable_fields.text(parsed.description, storable_fields.LONGEST_LIST),
        language=storable_fields.language(parsed.language),
        icon_url=storable_fields.storable_link(parsed.icon_url),
        image_url=storable_fields.storable_link(parsed.image_url),
        hub_url=storable_fields.storable_link(parsed.hub_url),
    )


def _visit(
    moment: DecisionContext, status: int | None, received: int = 0, certificate_until: datetime | None = None
) -> FetchStats:
    return FetchStats(moment.now, moment.elapsed, status, received, certificate_until)
