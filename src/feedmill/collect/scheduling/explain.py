"""Explains the schedule and state of a feed in sentences. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from feedmill.collect.refresh_decision import FETCHES_UNTIL_MOVE, StoredPollingHints
from feedmill.collect.scheduling.cadence import DAY, SHORTEST_INTERVAL, PublishingPattern, automatic_interval
from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus
from feedmill.model.feed_state import feed_state
from feedmill.model.fetch_log import FetchLogLine
from feedmill.model.relative_times import time_ago, time_until
from feedmill.model.translatable_text import TranslatableText
from feedmill.store.feeds.fetch_log import FetchTally

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# What the dice add to an interval is not worth a sentence.
NOTABLE_RATIO = 1.25


def explain_schedule(
    feed: Feed,
    fetches: Sequence[FetchLogLine],
    tally: FetchTally,
    former: Sequence[tuple[str, datetime]],
    now: datetime,
) -> list[TranslatableText]:
    """From the feed's row, its last fetches (newest first), their sum and where it was before."""
    schedule = [*_state(feed, fetches, now), *_next(feed, now), *_wishes(feed)]
    return [*schedule, *_places(feed, former), *_habit(feed, tally, now)]


def clock_time(moment: datetime, now: datetime) -> TranslatableText:
    """`14:05 UTC`, with the day when it is not near."""
    if abs(moment - now) < DAY / 2:
        return TranslatableText("{at:%H:%M %Z}", at=moment)
    return TranslatableText("{at:%Y-%m-%d %H:%M %Z}", at=moment)


def _state(feed: Feed, fetches: Sequence[FetchLogLine], now: datetime) -> Iterator[TranslatableText]:
    last = fetches[0] if fetches else None
    if feed_state(feed, now) == "running":
        yield TranslatableText("It is being fetched right now.")
    if feed.status is FeedStatus.DISABLED:
        yield TranslatableText("It is not fetched any more: {why}.", why=_why(feed))
    elif feed.consecutive_failures:
        yield from _failing(feed, last, now)
    elif last is None:
        yield TranslatableText("It has never been fetched.")
    elif feed.truncated_times:
        yield TranslatableText(
            "Its last answer, {ago}, ended in the middle; the entries that were complete were taken.",
            ago=time_ago(last.at, now),
        )
    else:
        yield TranslatableText(
            "It is well: the last fetch, {ago}, {came_to}.", ago=time_ago(last.at, now), came_to=_fetch_result(last)
        )


def _failing(feed: Feed, last: FetchLogLine | None, now: datetime) -> Iterator[TranslatableText]:
    """The schedule's own reason, which comes next, says what went wrong."""
    when = time_ago(last.at if last else feed.last_fetched_at or now, now)
    if feed.last_error_kind == "throttled":
        yield TranslatableText("Its server turned us away, {ago}, so we leave it in peace.", ago=when)
    elif feed.last_error_kind == "gone":
        yield TranslatableText(
            "Its server said, {ago}, that it is gone for good; if it still says so a day later, it is disabled.",
            ago=when,
        )
    elif feed.consecutive_failures == 1:
        yield TranslatableText("Its last fetch failed, {ago}.", ago=when)
    else:
        times = feed.consecutive_failures
        yield TranslatableText("Its last {times} fetches failed, the last one {ago}.", times=times, ago=when)
    if feed.last_success_at is None:
        yield TranslatableText("It never worked so far.")
    else:
        yield TranslatableText("It worked last {ago}.", ago=time_ago(feed.last_success_at, now))


def _next(feed: Feed, now: datetime) -> Iterator[TranslatableText]:
    if feed.next_fetch_at is None:
        if feed.status is not FeedStatus.DISABLED:
            yield TranslatableText("It is never due by itself: {why}.", why=_why(feed))
        return
    at, why = clock_time(feed.next_fetch_at, now), _why(feed)
    if feed.next_fetch_at <= now:
        yield TranslatableText("It is due since {at} and waits for its turn: {why}.", at=at, why=why)
        return
    yield TranslatableText(
        "The next fetch is {ahead}, at {at}: {why}.", ahead=time_until(feed.next_fetch_at, now), at=at, why=why
    )
    if feed.last_error_kind in ("throttled", "gone"):
        return
    if feed.consecutive_failures:
        yield _patience(feed)
    else:
        yield from _compared(feed, now)


def _patience(feed: Feed) -> TranslatableText:
    if feed.consecutive_failures >= ERROR_AFTER:
        return TranslatableText("It is tried once a day until it works again; refreshing it by hand tries at once.")
    return TranslatableText(
        "Each failure doubles the wait, up to a day; the first success brings its usual rhythm back."
    )


def _compared(feed: Feed, now: datetime) -> Iterator[TranslatableText]:
    """What its own rhythm would have been, when something else decides."""
    if feed.last_fetched_at is None or feed.next_fetch_at is None:
        return
    planned, own = (
        feed.next_fetch_at - feed.last_fetched_at,
        automatic_interval(now, PublishingPattern(feed.rhythm, feed.last_entry_at)),
    )
    if planned > own * NOTABLE_RATIO:
        yield TranslatableText("By its own rhythm it would be every {length}.", length=own)


def _wishes(feed: Feed) -> Iterator[TranslatableText]:
    if feed.interval is not None and feed.interval < SHORTEST_INTERVAL:
        yield TranslatableText(
            "Somebody asked for every {length}, but public feeds are fetched every {least} at most.",
            length=feed.interval,
            least=SHORTEST_INTERVAL,
        )
    if feed.wishes is None:
        return
    kept = msgspec.json.decode(feed.wishes, type=StoredPollingHints)
    if kept.seconds:
        yield TranslatableText(
            "The feed itself asks for {length} between two fetches ({name}).",
            length=timedelta(seconds=kept.seconds),
            name=kept.name,
        )
    if kept.skip_hours:
        hours = ", ".join(map(str, kept.skip_hours))
        yield TranslatableText("It asks not to be fetched at these hours (GMT): {hours}.", hours=hours)
    for day in kept.skip_days:
        yield TranslatableText("It asks not to be fetched on {day}.", day=TranslatableText(WEEKDAYS[day]))


def _places(feed: Feed, former: Sequence[tuple[str, datetime]]) -> Iterator[TranslatableText]:
    if feed.moved_to and feed.status is not FeedStatus.DISABLED:
        yield _moving(feed.moved_to, feed.moved_times)
    for url, until in former[:3]:
        yield TranslatableText("Until {until:%Y-%m-%d} it was at {url}.", until=until, url=url)
    if feed.declared and feed.added_by_person:
        yield TranslatableText(
            "It is declared in the feeds file, and a person added it too, so the file does not change it."
        )
    elif feed.declared:
        yield TranslatableText("It is declared in the feeds file.")


def _moving(to: str, times: int) -> TranslatableText:
    if times == 1:
        return TranslatableText(
            "Its server says, once so far, that it moved to {to}; after {n} we follow.", to=to, n=FETCHES_UNTIL_MOVE
        )
    return TranslatableText(
        "Its server says, {times} times in a row so far, that it moved to {to}; after {n} we follow.",
        times=times,
        to=to,
        n=FETCHES_UNTIL_MOVE,
    )


def _habit(feed: Feed, tally: FetchTally, now: datetime) -> Iterator[TranslatableText]:
    if feed.last_entry_at is not None:
        yield TranslatableText("Its newest entry is from {ago}.", ago=time_ago(feed.last_entry_at, now))
    if tally.fetches > 1:
        failed = {0: TranslatableText("none"), tally.fetches: TranslatableText("all")}.get(
            tally.failures, f"{tally.failures}"
        )
        yield TranslatableText(
            "In the last 30 days it was fetched {times} times; {failed} of them failed, and {n} entries came of it.",
            times=tally.fetches,
            failed=failed,
            n=tally.new_entries,
        )


def _fetch_result(fetch: FetchLogLine) -> TranslatableText:
    if fetch.outcome == "not_modified":
        return TranslatableText("found nothing new (HTTP 304)")
    if fetch.outcome != "updated":
        return TranslatableText("brought the same bytes as before")
    if fetch.new_entries == 1:
        return TranslatableText("brought 1 new entry")
    if fetch.new_entries == 0:
        return TranslatableText("brought no new entries")
    return TranslatableText("brought {n} new entries", n=fetch.new_entries)


def _why(feed: Feed) -> str:
    return feed.next_fetch_why or TranslatableText("nobody said why")
