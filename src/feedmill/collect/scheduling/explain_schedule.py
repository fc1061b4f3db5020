"""Explains the schedule and state of a feed in sentences. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from feedmill.collect.refresh_decision import FETCHES_UNTIL_MOVE, StoredPollingHints
from feedmill.collect.scheduling.cadence import DAY, SHORTEST_INTERVAL, PublishingPattern, automatic_interval
from feedmill.i18n.messages import Message
from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus, feed_state
from feedmill.model.refresh import FetchLogLine
from feedmill.store.feeds.fetch_log import FetchTally

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Jitter alone is not worth a sentence.
NOTABLE_RATIO = 1.25


def explain_schedule(
    feed: Feed,
    fetches: Sequence[FetchLogLine],
    tally: FetchTally,
    former: Sequence[tuple[str, datetime]],
    now: datetime,
) -> list[Message]:
    """The sentences, from the feed's row, its last fetches (newest first), their sums and its former URLs."""
    schedule = [*_state(feed, fetches, now), *_next(feed, now), *_polling_hints(feed)]
    return [*schedule, *_urls(feed, former), *_changed_guids(fetches, now), *_history(feed, tally, now)]


def time_ago(time: datetime, now: datetime) -> Message:
    return Message("explain.ago", length=now - time) if time <= now else time_until(time, now)


def time_until(time: datetime, now: datetime) -> Message:
    return Message("explain.ahead", length=time - now) if time > now else Message("explain.now")


def clock_time(time: datetime, now: datetime) -> Message:
    """`14:05 UTC`, with the date if it is more than half a day away."""
    if abs(time - now) < DAY / 2:
        return Message("explain.clock_time", at=time)
    return Message("explain.clock_datetime", at=time)


def _state(feed: Feed, fetches: Sequence[FetchLogLine], now: datetime) -> Iterator[Message]:
    last = fetches[0] if fetches else None
    if feed_state(feed, now) == "running":
        yield Message("explain.running")
    if feed.status is FeedStatus.DISABLED:
        yield Message("explain.disabled", why=_why(feed))
    elif feed.consecutive_failures:
        yield from _failing(feed, last, now)
    elif last is None:
        yield Message("explain.never_fetched")
    elif feed.truncated_count:
        yield Message("explain.truncated", ago=time_ago(last.at, now))
    else:
        yield Message("explain.well", ago=time_ago(last.at, now), came_to=_fetch_result(last))


def _failing(feed: Feed, last: FetchLogLine | None, now: datetime) -> Iterator[Message]:
    """What went wrong is said by the reason of the schedule, which comes next."""
    when = time_ago(last.at if last else feed.last_fetched_at or now, now)
    if feed.last_error_kind == "throttled":
        yield Message("explain.throttled", ago=when)
    elif feed.last_error_kind == "gone":
        yield Message("explain.gone", ago=when)
    else:
        yield Message("explain.failing", n=feed.consecutive_failures, ago=when)
    if feed.last_success_at is None:
        yield Message("explain.never_worked")
    else:
        yield Message("explain.worked_last", ago=time_ago(feed.last_success_at, now))


def _next(feed: Feed, now: datetime) -> Iterator[Message]:
    if feed.next_fetch_at is None:
        if feed.status is not FeedStatus.DISABLED:
            yield Message("explain.never_due", why=_why(feed))
        return
    at, why = clock_time(feed.next_fetch_at, now), _why(feed)
    if feed.next_fetch_at <= now:
        yield Message("explain.due", at=at, why=why)
        return
    yield Message("explain.next_fetch", ahead=time_until(feed.next_fetch_at, now), at=at, why=why)
    if feed.last_error_kind in ("throttled", "gone"):
        return
    if feed.consecutive_failures:
        yield _backoff(feed)
    else:
        yield from _own_interval(feed, now)


def _backoff(feed: Feed) -> Message:
    if feed.consecutive_failures >= ERROR_AFTER:
        return Message("explain.tried_daily")
    return Message("explain.backoff")


def _own_interval(feed: Feed, now: datetime) -> Iterator[Message]:
    """The interval by the feed's own pattern, if something else makes the wait longer."""
    if feed.last_fetched_at is None or feed.next_fetch_at is None:
        return
    planned, own = (
        feed.next_fetch_at - feed.last_fetched_at,
        automatic_interval(now, PublishingPattern(feed.usual_gap, feed.last_entry_at)),
    )
    if planned > own * NOTABLE_RATIO:
        yield Message("explain.own_rhythm", length=own)


def _polling_hints(feed: Feed) -> Iterator[Message]:
    if feed.interval is not None and feed.interval < SHORTEST_INTERVAL:
        yield Message("explain.below_floor", length=feed.interval, least=SHORTEST_INTERVAL)
    if feed.polling_hints is None:
        return
    hints = msgspec.json.decode(feed.polling_hints, type=StoredPollingHints)
    if hints.seconds:
        yield Message("explain.asked_interval", length=timedelta(seconds=hints.seconds), name=hints.name)
    if hints.skip_hours:
        hours = ", ".join(map(str, hints.skip_hours))
        yield Message("explain.skip_hours", hours=hours)
    for day in hints.skip_days:
        yield Message("explain.skip_day", day=Message(f"weekday.{WEEKDAYS[day]}"))


def _urls(feed: Feed, former: Sequence[tuple[str, datetime]]) -> Iterator[Message]:
    if feed.moved_to and feed.status is not FeedStatus.DISABLED:
        yield _moving(feed.moved_to, feed.moved_count)
    for url, until in former[:3]:
        yield Message("explain.former_url", until=until, url=url)
    if feed.declared and feed.added_by_person:
        yield Message("explain.declared_and_added")
    elif feed.declared:
        yield Message("explain.declared")


def _changed_guids(fetches: Sequence[FetchLogLine], now: datetime) -> Iterator[Message]:
    """The last time that it gave stored entries other guids."""
    for fetch in fetches:
        if fetch.message is not None and fetch.message.code == "fetch.repeated":
            yield Message("explain.repeated", n=fetch.message.values["n"], ago=time_ago(fetch.at, now))
            return


def _moving(to: str, times: int) -> Message:
    return Message("explain.moving", n=times, to=to, needed=FETCHES_UNTIL_MOVE)


def _history(feed: Feed, tally: FetchTally, now: datetime) -> Iterator[Message]:
    if feed.last_entry_at is not None:
        yield Message("explain.newest_entry", ago=time_ago(feed.last_entry_at, now))
    if tally.fetches > 1:
        yield Message("explain.tally", times=tally.fetches, failed=_failures(tally), n=tally.new_entries)


def _failures(tally: FetchTally) -> Message:
    if tally.failures in (0, tally.fetches):
        return Message("explain.all_failed") if tally.failures else Message("explain.none_failed")
    return Message("explain.some_failed", n=tally.failures)


def _fetch_result(fetch: FetchLogLine) -> Message:
    if fetch.outcome == "not_modified":
        return Message("explain.not_modified")
    if fetch.outcome not in ("updated", "pushed"):
        return Message("explain.same_bytes")
    if fetch.new_entries == 0:
        return Message("explain.no_new_entries")
    return Message("explain.new_entries", n=fetch.new_entries)


def _why(feed: Feed) -> Message:
    return feed.next_fetch_why or Message("explain.no_reason")
