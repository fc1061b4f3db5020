"""Runs the filters of users over entries, each distinct condition once per entry. Pure but for the clock.

Regular expressions have so much time in a refresh. When a user's is up, the filters of that user that need one are not
tried on the rest; those that need none are.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from feedmill.library.filters.conditions import parse_tokens
from feedmill.library.filters.entry_facts import EntryFacts, holds
from feedmill.library.filters.filter_plans import FilterPlan
from feedmill.library.filters.regular_expressions import RegexTimeUp, TimedRegexes
from feedmill.library.search.query_tokens import tokenize
from feedmill.model.filters.entry_filter import FilterAction, FilterKind, ScopeKind
from feedmill.model.search_query import SearchCondition
from feedmill.model.timestamps import to_iso
from feedmill.store.filters.active_filters import ActiveFilter, FilteringSubscriber, SubscriptionNames
from feedmill.store.search.tokenizer import fold_text

# What keeps an entry from being unread; the first of them wins.
_NOT_UNREAD = frozenset({(FilterAction.READ, 0), (FilterAction.HIDE, 0)})

# Of one user, and of all subscribers of a feed, who share it evenly. A refresh has 120 seconds in all.
REGEX_SECONDS_OF_USER, REGEX_SECONDS_OF_ALL = 2.0, 20.0


class FilterMatch(NamedTuple):
    """An entry, by its key, that a filter matched, and what the filter changes: actions with their targets."""

    filter: ActiveFilter
    subscription_id: int
    key: str
    changes: tuple[tuple[FilterAction, int], ...]


@dataclass(frozen=True, slots=True)
class FilterRun:
    """What filters matched; and on how many entries filters, by id, were not tried, because their time was up."""

    matches: list[FilterMatch] = field(default_factory=list)
    untried: Counter[int] = field(default_factory=Counter)


@dataclass(slots=True)
class _TriedEntry:
    """An entry that filters are tried on.

    `present` are those of the words of filters that it has, `known` conditions with their results.
    """

    facts: EntryFacts
    present: frozenset[str]
    known: dict[SearchCondition, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnNames:
    """Resolves the names of a condition for the subscription of one user to one feed."""

    feed_id: int
    subscription_id: int
    names: SubscriptionNames

    def feeds(self, name: str) -> tuple[int, ...]:
        numbers = name.split(",")
        if all(number.isdecimal() for number in numbers):
            return self._if(str(self.subscription_id) in numbers)
        plain = fold_text(name)
        return self._if(bool(plain) and plain in fold_text(self.names.title))

    def folder(self, name: str) -> tuple[int, ...]:
        plain = fold_text(name)
        return self._if(any(fold_text(each) == plain for each in self.names.folder_names))

    def labels(self, name: str) -> tuple[int, ...]:
        return ()

    def _if(self, is_named: bool) -> tuple[int, ...]:
        return (self.feed_id,) if is_named else ()


@dataclass(frozen=True, slots=True)
class SubscriberFilters:
    """The filters of a subscriber to one feed; `conditions` are those of the plan, all of them resolved."""

    subscription_id: int
    plan: FilterPlan
    conditions: Sequence[SearchCondition | None]
    folder_ids: frozenset[int]
    now: str

    def applies(self, own: ActiveFilter) -> bool:
        """Whether the filter is about the feed and has not expired."""
        if own.expires_at is not None and own.expires_at <= self.now:
            return False
        scope = own.scope
        if scope.kind is ScopeKind.ALL:
            return True
        return scope.id in self.folder_ids if scope.kind is ScopeKind.FOLDER else scope.id == self.subscription_id


def resolve_plan(
    subscriber: FilteringSubscriber, plan: FilterPlan, names: SubscriptionNames, feed_id: int, now: datetime
) -> SubscriberFilters:
    """Resolves what depends on the subscription and the time."""
    conditions, own = plan.conditions, OwnNames(feed_id, subscriber.subscription_id, names)
    if None in conditions:
        conditions = tuple(
            parse_tokens(tokenize(each.condition, with_regex=True), own, now) if condition is None else condition
            for each, condition in zip(plan.filters, conditions, strict=True)
        )
    return SubscriberFilters(subscriber.subscription_id, plan, conditions, names.folder_ids, to_iso(now))


def run_filters(
    subscribers: Sequence[SubscriberFilters],
    entries: Mapping[str, EntryFacts],
    clock: Callable[[], float] = time.monotonic,
) -> FilterRun:
    """What the filters of each subscriber do with these entries, by their keys."""
    needed = frozenset[str]().union(*(each.plan.words for each in subscribers))
    regexes = _timed_regexes(subscribers, clock)
    run = FilterRun()
    for key, facts in entries.items():
        entry = _TriedEntry(facts, needed.intersection(facts.all_words.split()))
        for subscriber, timed in zip(subscribers, regexes, strict=True):
            places, untried = _try_filters(subscriber, timed, entry)
            if places:
                run.matches.extend(_run_in_order(subscriber, key, places))
            if untried:
                run.untried.update(subscriber.plan.filters[place].id for place in untried)
    return run


def _timed_regexes(subscribers: Sequence[SubscriberFilters], clock: Callable[[], float]) -> list[TimedRegexes]:
    """The expressions of each subscriber, with their share of the time."""
    users = sum(bool(each.plan.regexes) for each in subscribers)
    share = min(REGEX_SECONDS_OF_USER, REGEX_SECONDS_OF_ALL / max(1, users))
    return [TimedRegexes(each.plan.regexes, share, clock) for each in subscribers]


def _try_filters(
    subscriber: SubscriberFilters, regexes: TimedRegexes, entry: _TriedEntry
) -> tuple[list[int], list[int]]:
    """The places of the filters that match an entry, in order, and of those that were not tried."""
    plan, words = subscriber.plan, entry.facts.all_words
    needed = [*(plan.words & entry.present), *(prefix for prefix in plan.prefixes if f" {prefix[:-1]}" in words)]
    candidates = {*plan.without_words, *(place for word in needed for place in plan.by_word[word])}
    found: list[int] = []
    untried: list[int] = []
    for place in sorted(candidates):
        condition = subscriber.conditions[place]
        if condition is None or not subscriber.applies(plan.filters[place]):
            continue
        if condition not in entry.known:
            try:
                entry.known[condition] = holds(condition, entry.facts, regexes.matches)
            except RegexTimeUp:
                untried.append(place)
                continue
        if entry.known[condition]:
            found.append(place)
    return found, untried


def _run_in_order(subscriber: SubscriberFilters, key: str, places: Sequence[int]) -> list[FilterMatch]:
    """The filters that act on an entry, up to the first that stops. What one does, no other does again."""
    matches: list[FilterMatch] = []
    done: set[tuple[FilterAction, int]] = set()
    is_followed = False
    for place in places:
        own = subscriber.plan.filters[place]
        if own.kind is FilterKind.MUTE and is_followed:
            continue
        changes = tuple(target for target in own.actions.targets if target not in done)
        done.update(changes)
        if not done.isdisjoint(_NOT_UNREAD):
            done.update(_NOT_UNREAD)
        matches.append(FilterMatch(own, subscriber.subscription_id, key, changes))
        is_followed = is_followed or own.kind is FilterKind.FOLLOW
        if own.stops:
            break
    return matches
