"""Responses that are cached between discovery and subscribing."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.collect.discovery.discover import FetchedFeed
from feedmill.collect.discovery.response_cache import CACHE_LIFETIME, CACHE_MAX_BYTES, ENTRY_BYTES, ResponseCache
from feedmill.model.fetch_outcome import Freshness, Response, Validators
from feedmill.model.parsed_feed import ParsedEntry, ParsedFeed
from tests.flows.refresh_environment import NOW

ALICE, BOB = 1, 2


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


def here(url: str, size: int = 10, entries: int = 0) -> FetchedFeed:
    response = Response(
        url, url, 200, {}, b"x" * size, "", Validators(), Freshness(), None, True, size, NOW, timedelta()
    )
    return FetchedFeed(url, response, ParsedFeed("News", entries=(ParsedEntry(),) * entries))


def test_a_response_is_for_one_user_and_used_once() -> None:
    answers = ResponseCache()
    answers.keep(ALICE, here("a"))

    assert answers.take(BOB, "a") is None
    assert answers.take(ALICE, "a") == here("a")
    assert answers.take(ALICE, "a") is None


def test_a_response_expires_after_some_minutes() -> None:
    clock = Clock()
    answers = ResponseCache(clock)
    answers.keep(ALICE, here("a"))

    clock.now += CACHE_LIFETIME

    assert answers.take(ALICE, "a") is None


def test_the_oldest_responses_are_evicted_when_the_cache_is_full() -> None:
    answers = ResponseCache()
    for url in ("a", "b", "c"):
        answers.keep(ALICE, here(url, CACHE_MAX_BYTES // 2))

    assert [answers.take(ALICE, url) is None for url in ("a", "b", "c")] == [True, False, False]


def test_a_feed_with_very_many_entries_is_not_cached_however_small_its_body() -> None:
    answers = ResponseCache()

    answers.keep(ALICE, here("a", entries=CACHE_MAX_BYTES // ENTRY_BYTES))

    assert answers.take(ALICE, "a") is None
