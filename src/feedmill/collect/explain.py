"""Why a feed is fetched when it is, in sentences that a person would say. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from feedmill.collect.cadence import DAY, QUICKEST, Habit, automatic
from feedmill.collect.decide import MOVES_TO_SETTLE, KeptWishes
from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus
from feedmill.model.sentences import Sentence
from feedmill.model.standing import standing
from feedmill.store.fetch_log import Fetch, Tally

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# What the dice add to an interval is not worth a sentence.
NOTABLE = 1.25


def explain(
    feed: Feed, fetches: Sequence[Fetch], tally: Tally, former: Sequence[tuple[str, datetime]], now: datetime
) -> list[Sentence]:
    """From the feed's row, its last fetches (newest first), their sum and where it was before."""
    schedule = [*_state(feed, fetches, now), *_next(feed, now), *_wishes(feed)]
    return [*schedule, *_places(feed, former), *_habit(feed, tally, now)]


def ago(moment: datetime, now: datetime) -> Sentence:
    return Sentence("{length} ago", length=now - moment) if moment <= now else ahead(moment, now)


def ahead(moment: datetime, now: datetime) -> Sentence:
    return Sentence("in {length}", length=moment - now) if moment > now else Sentence("now")


def clock(moment: datetime, now: datetime) -> Sentence:
    """`14:05 UTC`, with the day when it is not near."""
    if abs(moment - now) < DAY / 2:
        return Sentence("{at:%H:%M %Z}", at=moment)
    return Sentence("{at:%Y-%m-%d %H:%M %Z}", at=moment)


def _state(feed: Feed, fetches: Sequence[Fetch], now: datetime) -> Iterator[Sentence]:
    last = fetches[0] if fetches else None
    if standing(feed, now) == "running":
        yield Sentence("It is being fetched right now.")
    if feed.status is FeedStatus.DISABLED:
        yield Sentence("It is not fetched any more: {why}.", why=_why(feed))
    elif feed.consecutive_failures:
        yield from _failing(feed, last, now)
    elif last is None:
        yield Sentence("It has never been fetched.")
    else:
        yield Sentence("It is well: the last fetch, {ago}, {came_to}.", ago=ago(last.at, now), came_to=_came_to(last))


def _failing(feed: Feed, last: Fetch | None, now: datetime) -> Iterator[Sentence]:
    """The schedule's own reason, which comes next, says what went wrong."""
    when = ago(last.at if last else feed.last_fetched_at or now, now)
    if feed.last_error_kind == "throttled":
        yield Sentence("Its server turned us away, {ago}, so we leave it in peace.", ago=when)
    elif feed.last_error_kind == "gone":
        yield Sentence(
            "Its server said, {ago}, that it is gone for good; if it still says so a day later, it is disabled.",
            ago=when,
        )
    elif feed.consecutive_failures == 1:
        yield Sentence("Its last fetch failed, {ago}.", ago=when)
    else:
        times = feed.consecutive_failures
        yield Sentence("Its last {times} fetches failed, the last one {ago}.", times=times, ago=when)
    if feed.last_success_at is None:
        yield Sentence("It never worked so far.")
    else:
        yield Sentence("It worked last {ago}.", ago=ago(feed.last_success_at, now))


def _next(feed: Feed, now: datetime) -> Iterator[Sentence]:
    if feed.next_fetch_at is None:
        if feed.status is not FeedStatus.DISABLED:
            yield Sentence("It is never due by itself: {why}.", why=_why(feed))
        return
    at, why = clock(feed.next_fetch_at, now), _why(feed)
    if feed.next_fetch_at <= now:
        yield Sentence("It is due since {at} and waits for its turn: {why}.", at=at, why=why)
        return
    yield Sentence("The next fetch is {ahead}, at {at}: {why}.", ahead=ahead(feed.next_fetch_at, now), at=at, why=why)
    if feed.last_error_kind in ("throttled", "gone"):
        return
    if feed.consecutive_failures:
        yield _patience(feed)
    else:
        yield from _compared(feed, now)


def _patience(feed: Feed) -> Sentence:
    if feed.consecutive_failures >= ERROR_AFTER:
        return Sentence("It is tried once a day until it works again; refreshing it by hand tries at once.")
    return Sentence("Each failure doubles the wait, up to a day; the first success brings its usual rhythm back.")


def _compared(feed: Feed, now: datetime) -> Iterator[Sentence]:
    """What its own rhythm would have been, when something else decides."""
    if feed.last_fetched_at is None or feed.next_fetch_at is None:
        return
    planned, own = feed.next_fetch_at - feed.last_fetched_at, automatic(now, Habit(feed.rhythm, feed.last_entry_at))
    if planned > own * NOTABLE:
        yield Sentence("By its own rhythm it would be every {length}.", length=own)


def _wishes(feed: Feed) -> Iterator[Sentence]:
    if feed.interval is not None and feed.interval < QUICKEST:
        yield Sentence(
            "Somebody asked for every {length}, but public feeds are fetched every {least} at most.",
            length=feed.interval, least=QUICKEST,
        )  # fmt: skip
    if feed.wishes is None:
        return
    kept = msgspec.json.decode(feed.wishes, type=KeptWishes)
    if kept.seconds:
        yield Sentence(
            "The feed itself asks for {length} between two fetches ({name}).",
            length=timedelta(seconds=kept.seconds), name=kept.name,
        )  # fmt: skip
    if kept.skip_hours:
        hours = ", ".join(map(str, kept.skip_hours))
        yield Sentence("It asks not to be fetched at these hours (GMT): {hours}.", hours=hours)
    for day in kept.skip_days:
        yield Sentence("It asks not to be fetched on {day}.", day=Sentence(WEEKDAYS[day]))


def _places(feed: Feed, former: Sequence[tuple[str, datetime]]) -> Iterator[Sentence]:
    if feed.moved_to and feed.status is not FeedStatus.DISABLED:
        yield _moving(feed.moved_to, feed.moved_times)
    for url, until in former[:3]:
        yield Sentence("Until {until:%Y-%m-%d} it was at {url}.", until=until, url=url)
    if feed.declared and feed.added_by_person:
        yield Sentence("It is declared in the feeds file, and a person added it too, so the file does not change it.")
    elif feed.declared:
        yield Sentence("It is declared in the feeds file.")


def _moving(to: str, times: int) -> Sentence:
    if times == 1:
        return Sentence(
            "Its server says, once so far, that it moved to {to}; after {n} we follow.", to=to, n=MOVES_TO_SETTLE
        )
    return Sentence(
        "Its server says, {times} times in a row so far, that it moved to {to}; after {n} we follow.",
        times=times, to=to, n=MOVES_TO_SETTLE,
    )  # fmt: skip


def _habit(feed: Feed, tally: Tally, now: datetime) -> Iterator[Sentence]:
    if feed.last_entry_at is not None:
        yield Sentence("Its newest entry is from {ago}.", ago=ago(feed.last_entry_at, now))
    if tally.fetches > 1:
        failed = {0: Sentence("none"), tally.fetches: Sentence("all")}.get(tally.failures, f"{tally.failures}")
        yield Sentence(
            "In the last 30 days it was fetched {times} times; {failed} of them failed, and {n} entries came of it.",
            times=tally.fetches, failed=failed, n=tally.new_entries,
        )  # fmt: skip


def _came_to(fetch: Fetch) -> Sentence:
    if fetch.outcome == "not_modified":
        return Sentence("found nothing new (HTTP 304)")
    if fetch.outcome != "updated":
        return Sentence("brought the same bytes as before")
    if fetch.new_entries == 1:
        return Sentence("brought 1 new entry")
    if fetch.new_entries == 0:
        return Sentence("brought no new entries")
    return Sentence("brought {n} new entries", n=fetch.new_entries)


def _why(feed: Feed) -> str:
    return feed.next_fetch_why or Sentence("nobody said why")
