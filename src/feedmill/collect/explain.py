"""Why a feed is fetched when it is, in sentences that a person would say. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from feedmill.collect.cadence import DAY, QUICKEST, Habit, automatic, in_words
from feedmill.collect.decide import MOVES_TO_SETTLE, KeptWishes
from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus
from feedmill.model.standing import standing
from feedmill.store.fetch_log import Fetch, Tally

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# What the dice add to an interval is not worth a sentence.
NOTABLE = 1.25


def explain(
    feed: Feed, fetches: Sequence[Fetch], tally: Tally, former: Sequence[tuple[str, datetime]], now: datetime
) -> list[str]:
    """From the feed's row, its last fetches (newest first), their sum and where it was before."""
    schedule = [*_state(feed, fetches, now), *_next(feed, now), *_wishes(feed)]
    return [*schedule, *_places(feed, former), *_habit(feed, tally, now)]


def ago(moment: datetime, now: datetime) -> str:
    return f"{in_words(now - moment)} ago" if moment <= now else ahead(moment, now)


def ahead(moment: datetime, now: datetime) -> str:
    return f"in {in_words(moment - now)}" if moment > now else "now"


def clock(moment: datetime, now: datetime) -> str:
    """`14:05 UTC`, with the day when it is not near."""
    return f"{moment:%H:%M} UTC" if abs(moment - now) < DAY / 2 else f"{moment:%Y-%m-%d %H:%M} UTC"


def _state(feed: Feed, fetches: Sequence[Fetch], now: datetime) -> Iterator[str]:
    last = fetches[0] if fetches else None
    if standing(feed, now) == "running":
        yield "It is being fetched right now."
    if feed.status is FeedStatus.DISABLED:
        yield f"It is not fetched any more: {_reason(feed)}."
    elif feed.consecutive_failures:
        yield from _failing(feed, last, now)
    elif last is None:
        yield "It has never been fetched."
    else:
        yield f"It is well: the last fetch, {ago(last.at, now)}, {_came_to(last)}."


def _failing(feed: Feed, last: Fetch | None, now: datetime) -> Iterator[str]:
    """The schedule's own reason, which comes next, says what went wrong."""
    when = f", {ago(last.at, now)}" if last else ""
    if feed.last_error_kind == "throttled":
        yield f"Its server turned us away{when}, so we leave it in peace."
    elif feed.last_error_kind == "gone":
        yield f"Its server said{when} that it is gone for good; if it still says so a day later, it is disabled."
    elif feed.consecutive_failures == 1:
        yield f"Its last fetch failed{when}."
    else:
        yield f"Its last {feed.consecutive_failures} fetches failed, the last one{when.removeprefix(',')}."
    yield f"It worked last {ago(feed.last_success_at, now)}." if feed.last_success_at else "It never worked so far."


def _next(feed: Feed, now: datetime) -> Iterator[str]:
    if feed.next_fetch_at is None:
        if feed.status is not FeedStatus.DISABLED:
            yield f"It is never due by itself: {_reason(feed)}."
        return
    if feed.next_fetch_at <= now:
        yield f"It is due since {clock(feed.next_fetch_at, now)} and waits for its turn: {_reason(feed)}."
        return
    yield f"The next fetch is {ahead(feed.next_fetch_at, now)}, at {clock(feed.next_fetch_at, now)}: {_reason(feed)}."
    if feed.last_error_kind in ("throttled", "gone"):
        return
    if feed.consecutive_failures:
        yield _patience(feed)
    else:
        yield from _compared(feed, now)


def _patience(feed: Feed) -> str:
    if feed.consecutive_failures >= ERROR_AFTER:
        return "It is tried once a day until it works again; refreshing it by hand tries at once."
    return "Each failure doubles the wait, up to a day; the first success brings its usual rhythm back."


def _compared(feed: Feed, now: datetime) -> Iterator[str]:
    """What its own rhythm would have been, when something else decides."""
    if feed.last_fetched_at is None or feed.next_fetch_at is None:
        return
    planned, own = feed.next_fetch_at - feed.last_fetched_at, automatic(now, Habit(feed.rhythm, feed.last_entry_at))
    if planned > own * NOTABLE:
        yield f"By its own rhythm it would be every {in_words(own)}."


def _wishes(feed: Feed) -> Iterator[str]:
    if feed.interval is not None and feed.interval < QUICKEST:
        least = f"public feeds are fetched every {in_words(QUICKEST)} at most"
        yield f"Somebody asked for every {in_words(feed.interval)}, but {least}."
    if feed.wishes is None:
        return
    kept = msgspec.json.decode(feed.wishes, type=KeptWishes)
    if kept.seconds:
        yield f"The feed itself asks for {in_words(timedelta(seconds=kept.seconds))} between two fetches ({kept.name})."
    if kept.skip_hours:
        yield f"It asks not to be fetched at these hours (GMT): {', '.join(map(str, kept.skip_hours))}."
    if kept.skip_days:
        yield f"It asks not to be fetched on {', '.join(WEEKDAYS[day] for day in kept.skip_days)}."


def _places(feed: Feed, former: Sequence[tuple[str, datetime]]) -> Iterator[str]:
    if feed.moved_to and feed.status is not FeedStatus.DISABLED:
        times = "once" if feed.moved_times == 1 else f"{feed.moved_times} times in a row"
        yield f"Its server says, {times} so far, that it moved to {feed.moved_to}; after {MOVES_TO_SETTLE} we follow."
    for url, until in former[:3]:
        yield f"Until {until:%Y-%m-%d} it was at {url}."
    if feed.declared and feed.added_by_person:
        yield "It is declared in the feeds file, and a person added it too, so the file does not change it."
    elif feed.declared:
        yield "It is declared in the feeds file."


def _habit(feed: Feed, tally: Tally, now: datetime) -> Iterator[str]:
    if feed.last_entry_at is not None:
        yield f"Its newest entry is from {ago(feed.last_entry_at, now)}."
    if tally.fetches > 1:
        failed = {0: "none", tally.fetches: "all"}.get(tally.failures, f"{tally.failures}")
        outcome = f"{failed} of them failed, and {tally.new_entries} entries came of it"
        yield f"In the last 30 days it was fetched {tally.fetches} times; {outcome}."


def _came_to(fetch: Fetch) -> str:
    if fetch.outcome == "updated":
        new = "1 new entry" if fetch.new_entries == 1 else f"{fetch.new_entries or 'no'} new entries"
        return f"brought {new}"
    return "found nothing new (HTTP 304)" if fetch.outcome == "not_modified" else "brought the same bytes as before"


def _reason(feed: Feed) -> str:
    return feed.next_fetch_why or "nobody said why"
