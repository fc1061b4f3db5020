"""Regular expressions have little time in a refresh: a user's filters stop neither the feed nor those of others."""

import pytest

from feedmill.library.filters.entry_facts import EntryFacts
from feedmill.library.filters.filter_plans import make_plan
from feedmill.library.filters.regular_expressions import compile_regex
from feedmill.library.filters.run_filters import (
    REGEX_SECONDS_OF_ALL,
    REGEX_SECONDS_OF_USER,
    FilterRun,
    SubscriberFilters,
    resolve_plan,
    run_filters,
)
from feedmill.model.filters.entry_filter import ALL_FEEDS, FilterActions, FilterKind
from feedmill.store.filters.active_filters import NO_NAMES, ActiveFilter, FilteringSubscriber
from tests.library.filters.counting_clock import CountingClock
from tests.library.small_library import NOW, new_entry

STAR = FilterActions(star=True)
ALICE, BOB = 1, 2


def subscriber(user_id: int, *conditions: str) -> SubscriberFilters:
    """A subscriber of feed 5 with filters, whose ids are ten times the user's and more."""
    filters = [
        ActiveFilter(user_id * 10 + place, user_id, FilterKind.FILTER, condition, STAR, False, ALL_FEEDS, None)
        for place, condition in enumerate(conditions)
    ]
    return resolve_plan(FilteringSubscriber(user_id, user_id, "v"), make_plan(filters), NO_NAMES, 5, NOW)


def run(*subscribers: SubscriberFilters, entries: int = 4) -> FilterRun:
    """Runs filters over entries about kilns; each expression takes a second of each title."""
    facts = {str(number): EntryFacts(new_entry(f"kilns {number}", NOW), 5, NOW) for number in range(1, entries + 1)}
    return run_filters(subscribers, facts, CountingClock())


def keys(found: FilterRun, filter_id: int) -> list[str]:
    return [match.key for match in found.matches if match.filter.id == filter_id]


def test_expressions_are_not_tried_when_the_time_of_their_user_is_up() -> None:
    slow, other = subscriber(ALICE, "in:title:/k.*s/", "kilns"), subscriber(BOB, "in:title:/ki.*s/")

    found = run(slow, other)

    tried = [str(number) for number in range(1, int(REGEX_SECONDS_OF_USER) + 1)]
    assert keys(found, 10) == keys(found, 20) == tried
    assert keys(found, 11) == ["1", "2", "3", "4"]
    assert found.untried == {10: 4 - len(tried), 20: 4 - len(tried)}


def test_a_condition_that_fails_without_its_expression_needs_no_time() -> None:
    found = run(subscriber(ALICE, "in:title:/k.*s/", "in:title:/k/ clay OR glaze /k/"))

    assert found.untried.keys() == {10}


def test_what_another_user_has_tried_takes_no_time() -> None:
    found = run(subscriber(ALICE, "in:title:/k.*s/"), subscriber(BOB, "in:title:/k.*s/"))

    assert keys(found, 20) == ["1", "2", "3", "4"]
    assert found.untried == {10: 2}


def test_many_users_share_the_time_of_a_refresh() -> None:
    users = int(REGEX_SECONDS_OF_ALL) * 2

    found = run(*(subscriber(user, f"in:title:/k.*s|{user}x/") for user in range(1, users + 1)))

    # The share of each is half a second, and what has begun is finished.
    assert len(found.matches) == users
    assert set(found.untried.values()) == {3}


def test_expressions_are_compiled_with_the_plan_and_not_for_each_entry() -> None:
    own = subscriber(ALICE, *(f"in:title:/k{number}/" for number in range(3)))
    compile_regex.cache_clear()

    run(own)

    assert compile_regex.cache_info().misses == 0


@pytest.mark.parametrize("condition", ["in:title:/k/ after:2020-01-01", "feed:1 in:title:/k/"])
def test_conditions_about_names_and_dates_have_compiled_expressions_too(condition: str) -> None:
    assert keys(run(subscriber(ALICE, condition), entries=1), 10) == ["1"]
