"""The explanation of a feed's next fetch, in plain words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from msgspec import structs

from feedmill.collect.scheduling.explain_schedule import explain_schedule
from feedmill.i18n.messages import Message, verbatim
from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.refresh import FetchLogLine
from feedmill.store.feeds.fetch_log import FetchTally

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
URL = "https://example.org/feed"
WELL = Feed(
    1,
    URL,
    NOW - DAY,
    next_fetch_at=NOW + 20 * MINUTE,
    usual_gap=HOUR,
    next_fetch_why=verbatim("every 30 min, because it publishes about 24 a day"),
    last_fetched_at=NOW - 10 * MINUTE,
    last_success_at=NOW - 10 * MINUTE,
    last_entry_at=NOW - HOUR,
)
FETCHED = FetchLogLine(NOW - 10 * MINUTE, "updated", 200, 1000, 120, 3, 0, None)
FAILED = FetchLogLine(NOW - MINUTE, "http_5xx", 500, 0, 50, 0, 0, verbatim("the server failed with 500"))
FAILING = structs.replace(
    WELL,
    consecutive_failures=3,
    last_error=verbatim("the server failed with 500"),
    last_error_kind="http_5xx",
    next_fetch_at=NOW + 2 * HOUR,
    next_fetch_why=verbatim("because it failed 3 times in a row: the server failed with 500"),
)


def test_an_adaptive_feed() -> None:
    assert told(WELL, FETCHED, tally=FetchTally(40, 0, 60)) == [
        "It is healthy: the last fetch, 10 min ago, brought 3 new entries.",
        "The next fetch is in 20 min, at 08:50 UTC: every 30 min, because it publishes about 24 a day.",
        "Its newest entry is from 60 min ago.",
        "In the last 30 days it was fetched 40 times; none of these fetches failed, and 60 new entries were found.",
    ]


def test_a_feed_that_changed_the_ids_of_its_entries() -> None:
    renamed = replace(FETCHED, at=NOW - 3 * HOUR, message=Message("fetch.repeated", n=12))

    sentences = told(WELL, FETCHED, renamed, replace(renamed, at=NOW - DAY))

    assert [each for each in sentences if "ids" in each] == [
        "It gave 12 stored entries new ids, 3 h ago; they did not become unread again."
    ]


def test_a_backed_off_feed() -> None:
    assert told(FAILING, FAILED)[:4] == [
        "Its last 3 fetches failed, the last one 60 s ago.",
        "It last worked 10 min ago.",
        "The next fetch is in 2 h, at 10:30 UTC: because it failed 3 times in a row: the server failed with 500.",
        "Each failure doubles the wait, up to a day; after the first success it is fetched as usual again.",
    ]


def test_a_feed_in_error_can_be_retried_by_hand() -> None:
    feed = structs.replace(FAILING, consecutive_failures=12, status=FeedStatus.ERROR)

    assert "It is tried once a day until it works again; refreshing it by hand tries at once." in told(feed, FAILED)


def test_a_throttled_feed() -> None:
    feed = structs.replace(
        FAILING, consecutive_failures=1, last_error_kind="throttled", next_fetch_why=verbatim("its server asked (429)")
    )

    assert told(feed, replace(FAILED, outcome="throttled"))[:3] == [
        "Its server asked us to wait, 60 s ago, so we do.",
        "It last worked 10 min ago.",
        "The next fetch is in 2 h, at 10:30 UTC: its server asked (429).",
    ]


def test_a_feed_with_hints_also_has_its_own_interval() -> None:
    wishes = '{"seconds":14400,"name":"ttl","skip_hours":[2,3],"skip_days":[6]}'
    feed = structs.replace(
        WELL, next_fetch_at=NOW + 4 * HOUR, next_fetch_why=verbatim("every 4 h, as it asks (ttl)"), polling_hints=wishes
    )

    assert told(feed, FETCHED)[1:6] == [
        "The next fetch is in 4 h, at 12:30 UTC: every 4 h, as it asks (ttl).",
        "By how often it publishes, it would be fetched every 30 min.",
        "The feed itself asks for 4 h between two fetches (ttl).",
        "It asks not to be fetched at these hours (GMT): 2, 3.",
        "It asks not to be fetched on Sunday.",
    ]


def test_a_feed_at_rest_is_never_due() -> None:
    feed = structs.replace(
        WELL, next_fetch_at=None, next_fetch_why=verbatim("at rest, because it is no longer in feeds.yaml")
    )

    assert "It is not fetched automatically: at rest, because it is no longer in feeds.yaml." in told(feed, FETCHED)


def test_a_disabled_feed_has_its_reason() -> None:
    feed = structs.replace(
        WELL, status=FeedStatus.DISABLED, next_fetch_at=None, next_fetch_why=verbatim("paused by hand")
    )

    assert told(feed, FETCHED)[0] == "It is not fetched any more: paused by hand."


def test_a_feed_that_moves_and_one_that_moved() -> None:
    feed = structs.replace(WELL, moved_to="https://example.org/new", moved_count=2)
    sentences = told(feed, FETCHED, former=[("https://old.example/feed", NOW - DAY)])

    assert (
        "Its server has redirected permanently to https://example.org/new 2 times in a row so far; "
        "after 3 times we follow." in sentences
    )
    assert "Until 2026-02-17 it was at https://old.example/feed." in sentences


def test_a_new_feed_and_one_that_is_fetched_now() -> None:
    new = Feed(1, URL, NOW, next_fetch_at=NOW, next_fetch_why=verbatim("new feed"))
    running = structs.replace(WELL, claimed_until=NOW + MINUTE)

    assert told(new) == [
        "It has never been fetched.",
        "It has been due since 08:30 UTC and waits for its turn: new feed.",
    ]
    assert told(running, FETCHED)[0] == "It is being fetched right now."


def told(
    feed: Feed,
    *fetches: FetchLogLine,
    tally: FetchTally | None = None,
    former: list[tuple[str, datetime]] | None = None,
) -> list[str]:
    return list(map(str, explain_schedule(feed, fetches, tally or FetchTally(), former or [], NOW)))
