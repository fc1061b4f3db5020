"""From a response to the decision what to store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import structs

from feedmill.collect import refresh_decision
from feedmill.collect.refresh_decision import LONGEST_URL, DecisionContext
from feedmill.collect.scheduling.cadence import CadenceSettings
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Freshness,
    Gone,
    HttpError,
    NotModified,
    Refused,
    Response,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.model.parsed_feed import ParsedEntry, ParsedFeed
from feedmill.model.refresh import EntryDiff, Failed, FeedMove, Postponed, Updated

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
URL = "https://example.org/feed"
FEED = Feed(1, URL, NOW)
MOMENT = DecisionContext(NOW, MINUTE, CadenceSettings(), 0.5)
FIXED = DecisionContext(NOW, MINUTE, CadenceSettings(), 0.0)
ENDS = (URL, URL)


def response(freshness: Freshness | None = None, moved_to: str | None = None) -> Response:
    return Response(
        url=URL,
        final_url=URL,
        status=200,
        headers={},
        body=b"",
        content_type="",
        validators=Validators('"1"', "today"),
        freshness=freshness or Freshness(),
        permanent_url=moved_to,
        delimited=True,
        received_bytes=5,
        fetched_at=NOW,
        elapsed=MINUTE,
    )


def updated(freshness: Freshness | None = None, feed: Feed = FEED, **said: Any) -> Updated:
    parsed = ParsedFeed(**said)
    return refresh_decision.decide_updated(feed, response(freshness), parsed, EntryDiff(), None, "sha", FIXED)


def failed(outcome: Any, feed: Feed = FEED, moment: DecisionContext = MOMENT) -> Failed:
    decision = refresh_decision.decide_not_fetched(feed, outcome, moment)
    assert isinstance(decision, Failed)
    return decision


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (HttpError(*ENDS, 404), "http_4xx"),
        (Gone(*ENDS), "gone"),
        (Throttled(*ENDS, 503, "url", None, NOW), "throttled"),
        (Retryable(*ENDS, "dns", "no such host"), "dns"),
        (Retryable(*ENDS, "http_5xx", "it failed", 500), "http_5xx"),
        (Refused(*ENDS, "too_large", "it is too large"), "too_large"),
        (Refused(*ENDS, "address", "it is private"), "refused"),
    ],
)
def test_every_failure_has_its_kind_and_a_next_fetch(outcome: FetchOutcome, kind: str) -> None:
    decision = failed(outcome)

    assert (decision.kind, decision.counted, decision.disables) == (kind, True, False)
    assert decision.schedule.at is not None
    assert decision.schedule.at > NOW


def test_a_feed_that_has_to_wait_for_its_host_is_only_deferred() -> None:
    decision = refresh_decision.decide_not_fetched(FEED, Deferred(*ENDS, NOW + HOUR), MOMENT)

    assert isinstance(decision, Postponed)
    assert decision.schedule.at == NOW + HOUR


@pytest.mark.parametrize(
    ("said", "freshness", "minutes", "name"),
    [
        ({}, Freshness(), 60, "publishes"),
        ({"ttl": 90 * MINUTE}, Freshness(), 90, "ttl"),
        ({"update_period": 2 * HOUR}, Freshness(), 120, "sy:updatePeriod"),
        ({"ttl": HOUR * 3, "update_period": 2 * HOUR}, Freshness(), 180, "ttl"),
        ({}, Freshness(max_age=3 * HOUR), 180, "Cache-Control: max-age"),
        ({}, Freshness(expires=NOW + 4 * HOUR), 240, "Expires"),
        ({}, Freshness(max_age=3 * HOUR, expires=NOW + 9 * HOUR), 180, "Cache-Control: max-age"),
        ({}, Freshness(max_age=0 * HOUR, expires=NOW + 9 * HOUR), 60, "publishes"),
        ({}, Freshness(expires=NOW - 4 * HOUR), 60, "publishes"),
        ({"ttl": 5 * HOUR}, Freshness(max_age=3 * HOUR), 300, "ttl"),
        ({"ttl": 9 * DAY}, Freshness(max_age=300 * DAY), 1440, "Cache-Control: max-age"),
    ],
)
def test_the_longest_hint_wins_and_is_named(
    said: dict[str, timedelta], freshness: Freshness, minutes: int, name: str
) -> None:
    schedule = updated(freshness, **said).schedule

    assert schedule.at == NOW + minutes * MINUTE
    assert name in str(schedule.why)


def test_a_304_follows_the_hints_of_the_last_body() -> None:
    hints = updated(ttl=5 * HOUR, skip_hours=frozenset({13})).polling_hints
    not_modified = NotModified(*ENDS, Validators('"1"'), Freshness(), None, NOW, MINUTE)

    decision = refresh_decision.decide_unchanged(structs.replace(FEED, polling_hints=hints), not_modified, FIXED)

    assert decision.schedule.at == NOW + 6 * HOUR


def test_the_cadence_uses_past_dates_only() -> None:
    dates = [NOW + DAY, NOW - HOUR, NOW - 3 * HOUR, NOW - 5 * HOUR]

    decision = updated(entries=tuple(ParsedEntry(published_at=date) for date in dates))

    assert (decision.usual_gap, decision.last_entry_at) == (2 * HOUR, NOW - HOUR)


@pytest.mark.parametrize(
    ("before", "times", "to", "move"),
    [
        (None, 0, None, FeedMove()),
        (None, 0, URL, FeedMove()),
        (None, 0, "https://b/", FeedMove("https://b/", 1)),
        ("https://b/", 1, "https://b/", FeedMove("https://b/", 2)),
        ("https://b/", 2, "https://b/", FeedMove("https://b/", 3, settled=True)),
        ("https://b/", 2, "https://c/", FeedMove("https://c/", 1)),
        ("https://b/", 2, None, FeedMove()),
        (None, 0, "https://b/" + "x" * LONGEST_URL, FeedMove()),
    ],
)
def test_a_permanent_redirect_is_followed_for_good_the_third_time(
    before: str | None, times: int, to: str | None, move: FeedMove
) -> None:
    feed = structs.replace(FEED, moved_to=before, moved_count=times)

    assert (
        refresh_decision.decide_updated(feed, response(moved_to=to), ParsedFeed(), EntryDiff(), None, "", MOMENT).move
        == move
    )


@pytest.mark.parametrize(
    ("ago", "disables"), [(None, False), (HOUR, False), (19 * HOUR, False), (20 * HOUR, True), (30 * DAY, True)]
)
def test_a_feed_that_is_gone_for_a_day_is_disabled(ago: timedelta | None, disables: bool) -> None:
    since = None if ago is None else NOW - ago

    decision = failed(Gone(*ENDS), structs.replace(FEED, gone_since=since))

    assert (decision.disables, decision.gone_since) == (disables, since or NOW)
    assert decision.schedule.at == (None if disables else NOW + DAY)


def test_during_our_own_outage_unreachable_and_slow_feeds_are_not_blamed() -> None:
    down = replace(MOMENT, our_network_is_down=True)

    unreachable, slow = (
        failed(Retryable(*ENDS, "connect", ""), moment=down),
        refresh_decision.decide_timeout(FEED, down),
    )
    missing = failed(HttpError(*ENDS, 404), moment=down)

    assert (unreachable.counted, slow.counted, missing.counted) == (False, False, True)


def test_only_a_parsed_body_leaves_its_validators() -> None:
    decision = refresh_decision.decide_not_a_feed(FEED, response(), "not a feed", None, "sha", MOMENT)

    assert (decision.kind, decision.body_sha256) == ("not_a_feed", "sha")
    assert (updated().etag, updated().last_modified) == ('"1"', "today")


@pytest.mark.parametrize(("private", "minutes"), [(True, 5), (False, 15)])
def test_the_interval_floor_is_for_public_hosts_only(private: bool, minutes: int) -> None:
    answer = replace(response(), is_private=private)

    decision = refresh_decision.decide_unchanged(structs.replace(FEED, interval=5 * MINUTE), answer, MOMENT)

    assert decision.schedule.at is not None
    assert minutes * MINUTE <= decision.schedule.at - NOW <= minutes * MINUTE * 1.1


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        ({}, "every 60 min, as a subscriber set it"),
        ({"declared": True}, "every 60 min, as the feeds file sets it"),
        ({"added_by_person": True}, "every 60 min, as it was set"),
    ],
)
def test_the_reason_names_a_subscriber_only_where_one_set_the_interval(origin: dict[str, bool], reason: str) -> None:
    decision = updated(feed=structs.replace(FEED, interval=HOUR, **origin))

    assert str(decision.schedule.why) == reason
