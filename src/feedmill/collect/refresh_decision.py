"""Decides from the outcome of a fetch what is written and when the feed is due next. Pure."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import assert_never

import msgspec

from feedmill.collect.entries import storable_text
from feedmill.collect.hub_links import find_hub
from feedmill.collect.scheduling import cadence
from feedmill.collect.scheduling.cadence import CadenceSettings, IntervalSetter, PollingHints, PublishingPattern
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
# A permanent redirect is followed for good when it holds for this many fetches.
FETCHES_UNTIL_MOVE = 3
GONE_FOR_GOOD = timedelta(hours=20)
GONE_PROBE = timedelta(days=1)
# The length of the column `feeds.url`.
LONGEST_URL = 2048
NO_HUB = (None, None)


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """What a decision depends on, apart from the feed and the outcome of its fetch."""

    now: datetime
    elapsed: timedelta
    rules: CadenceSettings
    jitter: float
    our_network_is_down: bool = False


class StoredPollingHints(msgspec.Struct, frozen=True, omit_defaults=True):
    """The polling hints in the feed's document, stored in its row for responses without a document (304)."""

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
    context: DecisionContext,
) -> Updated:
    stored = _stored_hints(parsed)
    dates = [entry.published_at or entry.updated_at for entry in parsed.entries]
    past = [date for date in dates if date is not None and date <= context.now]
    newest = max([*past, *(entry.date for entry in changes.new)], default=feed.last_entry_at)
    pattern = PublishingPattern(cadence.median_gap(context.now, past), newest)
    # What is new came by a fetch, though a hub should have pushed it.
    pushed_until = None if changes.new else _pushed_until(feed, context)
    hub = find_hub(feed, response, parsed) or NO_HUB
    return Updated(
        stats=_stats(context, response.status, response.received_bytes, response.certificate_until),
        schedule=_schedule_after_success(
            feed, pattern, stored, response, context, overflows=changes.overflows, missed=bool(changes.new)
        ),
        changes=changes,
        metadata=replace(storable_metadata(parsed), hub_url=hub[0], topic_url=hub[1]),
        raw=raw,
        entry_count=len(parsed.entries),
        etag=response.validators.etag,
        last_modified=response.validators.last_modified,
        body_sha256=sha256,
        last_entry_at=newest,
        usual_gap=pattern.usual_gap,
        polling_hints=msgspec.json.encode(stored).decode() if stored != StoredPollingHints() else None,
        move=observed_move(feed, response.permanent_url),
        pushed_until=pushed_until,
    )


def decide_pushed(feed: Feed, fetched: Updated, lease_until: datetime, context: DecisionContext) -> Updated:
    """Changes the decision for a fetched document into that for one that a hub pushed.

    It may lack entries that are in the feed, and it is not what the feed's URL answers: of the feed's row it changes
    times alone. The next fetch is conditional on what was fetched last, and finds what was not pushed.
    """
    return replace(
        fetched,
        stats=replace(fetched.stats, http_status=None),
        schedule=cadence.while_pushed(context.now, host_of(feed.hub_url or ""), context.jitter),
        metadata=FeedMetadata(),
        etag=feed.etag,
        last_modified=feed.last_modified,
        body_sha256=feed.body_sha256 or "",
        usual_gap=feed.usual_gap,
        polling_hints=feed.polling_hints,
        move=FeedMove(feed.moved_to, feed.moved_count),
        is_push=True,
        pushed_until=lease_until,
    )


def decide_truncated(feed: Feed, complete: Updated, context: DecisionContext) -> Updated:
    """Changes the decision for a complete document into that for a truncated one.

    Its validators are dropped, because with them the complete version might be answered with a 304.
    """
    times = feed.truncated_count + 1
    schedule = cadence.after_truncation(context.now, times, complete.schedule, context.rules, context.jitter)
    return replace(complete, schedule=schedule, etag=None, last_modified=None, truncated=True)


def decide_unchanged(feed: Feed, response: Response | NotModified, context: DecisionContext) -> Unchanged:
    stored = (
        msgspec.json.decode(feed.polling_hints, type=StoredPollingHints) if feed.polling_hints else StoredPollingHints()
    )
    received = response.received_bytes if isinstance(response, Response) else 0
    return Unchanged(
        stats=_stats(context, response.status, received, response.certificate_until),
        schedule=_schedule_after_success(
            feed, PublishingPattern(feed.usual_gap, feed.last_entry_at), stored, response, context
        ),
        etag=response.validators.etag,
        last_modified=response.validators.last_modified,
        move=observed_move(feed, response.permanent_url),
        pushed_until=_pushed_until(feed, context),
    )


def decide_moved_away(feed: Feed, response: Response | NotModified, context: DecisionContext) -> Unchanged:
    """The response is that of another feed: nothing of it is stored, so the validators stay as they are.

    So does the time of the last success, which the write leaves alone before a merge.
    """
    return replace(decide_unchanged(feed, response, context), etag=feed.etag, last_modified=feed.last_modified)


def decide_not_a_feed(
    feed: Feed, response: Response, failure: Message, raw: RawBody | None, sha256: str, context: DecisionContext
) -> Failed:
    return Failed(
        stats=_stats(context, response.status, response.received_bytes),
        schedule=_schedule_after_failure(feed, failure, context),
        kind="not_a_feed",
        message=failure,
        counted=not _is_early_retry(feed, context),
        raw=raw,
        body_sha256=sha256,
    )


def decide_timeout(feed: Feed, context: DecisionContext) -> Failed:
    failure = Message("fetch.given_up")
    return _unreachable(feed, "timeout", failure, _stats(context, None), context)


def decide_not_stored(feed: Feed, decision: RefreshDecision, reason: Message, context: DecisionContext) -> Failed:
    """The database refused the write; the raw body, if one was archived, is listed all the same."""
    failure = Message("fetch.not_stored", reason=reason)
    raw = decision.raw if isinstance(decision, Updated | Failed) else None
    stats = _stats(context, None) if isinstance(decision, Postponed) else decision.stats
    return Failed(
        stats,
        _schedule_after_failure(feed, failure, context),
        "not_stored",
        failure,
        counted=not _is_early_retry(feed, context),
        raw=raw,
        gone_since=feed.gone_since,
    )


def decide_not_fetched(feed: Feed, outcome: NoResponse, context: DecisionContext) -> RefreshDecision:
    stats, counted = _stats(context, outcome.status), not _is_early_retry(feed, context)
    match outcome:
        case Deferred():
            return Postponed(Schedule(outcome.until, Message("schedule.host_busy")))
        case Throttled():
            return _throttled(feed, outcome, stats, context)
        case Gone():
            return _gone(feed, stats, context)
        case Retryable():
            return _unreachable(feed, outcome.kind, outcome.detail, stats, context)
        case Refused(kind="blocked") if _is_own_host(feed, outcome):
            return Failed(
                stats,
                Schedule(None, BLOCKED_HOST_REASON),
                "blocked",
                BLOCKED_HOST_REASON,
                counted=False,
                gone_since=feed.gone_since,
            )
        case Refused():
            kind: FailureKind = "too_large" if outcome.kind == "too_large" else "refused"
            return Failed(stats, _schedule_after_failure(feed, outcome.detail, context), kind, outcome.detail, counted)
        case HttpError():
            failure = Message("fetch.http_status", status=outcome.status)
            return Failed(stats, _schedule_after_failure(feed, failure, context), "http_4xx", failure, counted)
    assert_never(outcome)


def _is_own_host(feed: Feed, outcome: Refused) -> bool:
    """Whether the feed's own host was refused, not one that it redirects to."""
    return host_of(outcome.final_url) == host_of(feed.url)


def _throttled(feed: Feed, outcome: Throttled, stats: FetchStats, context: DecisionContext) -> Failed:
    failure = Message("fetch.http_status", status=outcome.status)
    is_early = _is_early_retry(feed, context)
    backoff = schedule = _schedule_after_failure(feed, failure, context)
    if outcome.retry_after is not None:
        schedule = cadence.after_throttling(context.now, outcome.retry_after, outcome.status, context.jitter)
        # If a server asks for short waits again and again, our own backoff applies, one step behind.
        if not is_early:
            failures = feed.consecutive_failures
            backoff = cadence.after_failure(context.now, failures, failure, context.rules, context.jitter)
        schedule = max(schedule, backoff, key=_due_at) if feed.consecutive_failures else schedule
    return Failed(stats, schedule, "throttled", failure, counted=not is_early)


def _gone(feed: Feed, stats: FetchStats, context: DecisionContext) -> Failed:
    failure = Message("fetch.gone")
    since = feed.gone_since or context.now
    if context.now - since >= GONE_FOR_GOOD:
        schedule = Schedule(None, Message("schedule.disabled_gone"))
        return Failed(stats, schedule, "gone", failure, disables=True, gone_since=since)
    is_early = _is_early_retry(feed, context)
    probe_at = feed.next_fetch_at if is_early and feed.gone_since else context.now + GONE_PROBE
    schedule = Schedule(probe_at, Message("schedule.gone_probe"))
    return Failed(stats, schedule, "gone", failure, counted=not is_early, gone_since=since)


def _unreachable(
    feed: Feed, kind: FailureKind, failure: Message, stats: FetchStats, context: DecisionContext
) -> Failed:
    if context.our_network_is_down:
        schedule = cadence.after_outage(context.now, context.jitter)
        return Failed(stats, schedule, kind, failure, counted=False, gone_since=feed.gone_since)
    counted = not _is_early_retry(feed, context)
    schedule = _schedule_after_failure(feed, failure, context)
    return Failed(stats, schedule, kind, failure, counted, gone_since=feed.gone_since)


def _is_early_retry(feed: Feed, context: DecisionContext) -> bool:
    """Whether a failing feed was tried before its time, which only people ask for: that changes no back-off."""
    if not feed.consecutive_failures or feed.next_fetch_at is None:
        return False
    return feed.next_fetch_at > context.now


def _due_at(schedule: Schedule) -> datetime:
    return schedule.at or datetime.max.replace(tzinfo=UTC)


def _schedule_after_failure(feed: Feed, failure: Message, context: DecisionContext) -> Schedule:
    if not _is_early_retry(feed, context):
        failures = feed.consecutive_failures + 1
        return cadence.after_failure(context.now, failures, failure, context.rules, context.jitter)
    again = cadence.after_failure(context.now, feed.consecutive_failures, failure, context.rules, context.jitter)
    return Schedule(feed.next_fetch_at, again.why)


def _schedule_after_success(
    feed: Feed,
    pattern: PublishingPattern,
    stored: StoredPollingHints,
    response: Response | NotModified,
    context: DecisionContext,
    *,
    overflows: bool = False,
    missed: bool = False,
) -> Schedule:
    """`missed`: the fetch brought entries that a hub would have pushed, if it still pushed."""
    if _pushed_until(feed, context) is not None and not missed:
        return cadence.while_pushed(context.now, host_of(feed.hub_url or ""), context.jitter)
    schedule = _polling_schedule(feed, pattern, stored, response, context, overflows=overflows)
    if feed.pushed_until is None:
        return schedule
    if feed.pushed_until <= context.now:
        return replace(schedule, why=Message("schedule.push_ended", why=schedule.why))
    return replace(schedule, why=Message("schedule.push_missed", why=schedule.why))


def _polling_schedule(
    feed: Feed,
    pattern: PublishingPattern,
    stored: StoredPollingHints,
    response: Response | NotModified,
    context: DecisionContext,
    *,
    overflows: bool,
) -> Schedule:
    hints = _polling_hints(stored, response.freshness, context.now)
    rules = replace(context.rules, floor=cadence.PRIVATE_FLOOR) if response.is_private else context.rules
    return cadence.after_success(
        context.now,
        pattern,
        feed.interval,
        hints,
        rules,
        context.jitter,
        overflows=overflows,
        set_by=_setter_of_interval(feed),
    )


def _pushed_until(feed: Feed, context: DecisionContext) -> datetime | None:
    """Until when a hub pushes what is new; None if it does not, or no longer."""
    is_pushed = feed.pushed_until is not None and feed.pushed_until > context.now
    return feed.pushed_until if is_pushed else None


def _setter_of_interval(feed: Feed) -> IntervalSetter:
    if feed.declared:
        return IntervalSetter.FEEDS_FILE
    return IntervalSetter.PERSON if feed.added_by_person else IntervalSetter.SUBSCRIBER


def _polling_hints(stored: StoredPollingHints, freshness: Freshness, now: datetime) -> PollingHints:
    hints = [(timedelta(seconds=stored.seconds), stored.name)]
    if freshness.max_age is not None:
        hints.append((freshness.max_age, "Cache-Control: max-age"))
    elif freshness.expires is not None:
        hints.append((freshness.expires - now, "Expires"))
    hint, name = max(hints)
    positive = hint if hint > timedelta() else None
    return PollingHints(positive, name, frozenset(stored.skip_hours), frozenset(stored.skip_days))


def _stored_hints(parsed: ParsedFeed) -> StoredPollingHints:
    hints = [(parsed.ttl, "ttl"), (parsed.update_period, "sy:updatePeriod")]
    seconds, name = max(((int(length.total_seconds()), name) for length, name in hints if length), default=(0, ""))
    return StoredPollingHints(seconds, name, sorted(parsed.skip_hours), sorted(parsed.skip_days))


def observed_move(feed: Feed, permanent_url: str | None) -> FeedMove:
    """What the permanent redirects of this fetch and of those before it add up to."""
    # A private feed stays at the URL that its password was given for, and is never merged with a shared one.
    if permanent_url is None or feed.is_private:
        return FeedMove()
    if permanent_url == feed.url or len(permanent_url) > LONGEST_URL:
        return FeedMove()
    times = feed.moved_count + 1 if permanent_url == feed.moved_to else 1
    return FeedMove(permanent_url, times, settled=times >= FETCHES_UNTIL_MOVE)


def storable_metadata(parsed: ParsedFeed) -> FeedMetadata:
    """The metadata of the feed in a form that can be stored."""
    return FeedMetadata(
        title=storable_text.storable_text(parsed.title),
        site_url=storable_text.storable_link(parsed.link),
        description=storable_text.storable_text(parsed.description, storable_text.LONGEST_LIST),
        language=storable_text.storable_language(parsed.language),
        icon_url=storable_text.storable_link(parsed.icon_url),
        image_url=storable_text.storable_link(parsed.image_url),
        hub_url=storable_text.storable_link(parsed.hub_url),
    )


def _stats(
    context: DecisionContext, status: int | None, received: int = 0, certificate_until: datetime | None = None
) -> FetchStats:
    return FetchStats(context.now, context.elapsed, status, received, certificate_until)
