"""Runs the filters of users over entries, each distinct condition once per entry. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from feedmill.library.filters.conditions import condition_tokens, parse_tokens
from feedmill.library.filters.entry_facts import EntryFacts, holds
from feedmill.library.filters.filter_plans import FilterPlan
from feedmill.model.filters.entry_filter import FilterAction, FilterKind, ScopeKind
from feedmill.model.search_query import SearchCondition
from feedmill.model.timestamps import to_iso
from feedmill.store.filters.active_filters import ActiveFilter, FilteringSubscriber, SubscriptionNames
from feedmill.store.search.tokenizer import fold_text

# What keeps an entry from being unread; the first of them wins.
_NOT_UNREAD = frozenset({(FilterAction.READ, 0), (FilterAction.HIDE, 0)})


class FilterMatch(NamedTuple):
    """An entry, by its key, that a filter matched, and what the filter changes: actions with their targets."""

    filter: ActiveFilter
    subscription_id: int
    key: str
    changes: tuple[tuple[FilterAction, int], ...]


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
            parse_tokens(condition_tokens(each.condition), own, now) if condition is None else condition
            for each, condition in zip(plan.filters, conditions, strict=True)
        )
    return SubscriberFilters(subscriber.subscription_id, plan, conditions, names.folder_ids, to_iso(now))


def run_filters(subscribers: Sequence[SubscriberFilters], entries: Mapping[str, EntryFacts]) -> list[FilterMatch]:
    """What the filters of each subscriber do with these entries, by their keys."""
    needed = frozenset[str]().union(*(each.plan.words for each in subscribers))
    matches: list[FilterMatch] = []
    for key, facts in entries.items():
        present = needed.intersection(facts.all_words.split())
        known: dict[SearchCondition, bool] = {}
        for subscriber in subscribers:
            if places := _matching_places(subscriber, facts, present, known):
                matches += _run_in_order(subscriber, key, places)
    return matches


def _matching_places(
    subscriber: SubscriberFilters, facts: EntryFacts, present: frozenset[str], known: dict[SearchCondition, bool]
) -> list[int]:
    """The places of the filters that match an entry, in order.

    `present` are those of the words of filters that the entry has, `known` conditions with their results.
    """
    plan = subscriber.plan
    needed = [*(plan.words & present), *(prefix for prefix in plan.prefixes if f" {prefix[:-1]}" in facts.all_words)]
    if not needed and not plan.without_words:
        return []
    candidates = {*plan.without_words, *(place for word in needed for place in plan.by_word[word])}
    found = []
    for place in sorted(candidates):
        condition = subscriber.conditions[place]
        if condition is None or not subscriber.applies(plan.filters[place]):
            continue
        if condition not in known:
            known[condition] = holds(condition, facts)
        if known[condition]:
            found.append(place)
    return found


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
