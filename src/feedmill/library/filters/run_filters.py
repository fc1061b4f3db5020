"""Runs the filters of users over entries, each distinct condition once per entry. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from feedmill.lazy_loggers import get_logger
from feedmill.library.filters.conditions import BadCondition, condition_tokens, constant_condition, parse_tokens
from feedmill.library.filters.entry_facts import EntryFacts, holds, words_needed
from feedmill.model.filters.entry_filter import FilterAction, FilterKind
from feedmill.model.search_query import SearchCondition
from feedmill.store.filters.active_filters import ActiveFilter, SubscriptionNames
from feedmill.store.search.tokenizer import fold_text

log = get_logger(__name__)

# What keeps an entry from being unread; the first of them wins.
_NOT_UNREAD = frozenset({(FilterAction.READ, 0), (FilterAction.HIDE, 0)})


class FilterMatch(NamedTuple):
    """An entry, by its key, that a filter matched, and what the filter changes: actions with their targets."""

    filter: ActiveFilter
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


class PreparedFilter(NamedTuple):
    """A filter and its condition; filters with the same `condition_key` have the same condition."""

    filter: ActiveFilter
    condition_key: tuple[str, int]
    condition: SearchCondition


def needs_names(found: Iterable[ActiveFilter]) -> bool:
    """Whether a filter is limited to a folder, or its condition names feeds or folders."""
    return any(each.folder_id is not None or _names_something(each.condition) for each in found)


def prepare_filters(
    found: Sequence[ActiveFilter], names: Mapping[int, SubscriptionNames], feed_id: int, now: datetime
) -> list[PreparedFilter]:
    """The filters that concern the feed. One that can no longer be parsed matches nothing."""
    prepared = []
    for each in found:
        own = names.get(each.subscription_id)
        if each.folder_id is not None and (own is None or each.folder_id not in own.folder_ids):
            continue
        try:
            prepared.append(_prepare(each, own, feed_id, now))
        except BadCondition as error:
            log.warning("filter_unreadable", filter_id=each.id, reason=str(error))
    return prepared


def run_filters(prepared: Sequence[PreparedFilter], entries: Mapping[str, EntryFacts]) -> list[FilterMatch]:
    """What the filters of each user do with these entries, by their keys."""
    conditions = {each.condition_key: each.condition for each in prepared}
    by_word, without_words = _by_needed_word(conditions)
    of_users = [list(group) for _, group in groupby(prepared, key=lambda each: each.filter.user_id)]
    matches: list[FilterMatch] = []
    for key, facts in entries.items():
        candidates = {
            condition_key for word in by_word.keys() & facts.word_set for condition_key in by_word[word]
        }.union(without_words)
        holding = {each for each in candidates if holds(conditions[each], facts)}
        if holding:
            for of_user in of_users:
                matches += _run_in_order(of_user, key, holding)
    return matches


def _run_in_order(of_user: Sequence[PreparedFilter], key: str, holding: set[tuple[str, int]]) -> list[FilterMatch]:
    """The filters of one user that match an entry, up to the first that stops. What one does, no other does again."""
    matches: list[FilterMatch] = []
    done: set[tuple[FilterAction, int]] = set()
    is_followed = False
    for each in of_user:
        own = each.filter
        if each.condition_key not in holding or (own.kind is FilterKind.MUTE and is_followed):
            continue
        changes = tuple(target for target in own.actions.targets if target not in done)
        done.update(changes)
        if not done.isdisjoint(_NOT_UNREAD):
            done.update(_NOT_UNREAD)
        matches.append(FilterMatch(own, key, changes))
        is_followed = is_followed or own.kind is FilterKind.FOLLOW
        if own.stops:
            break
    return matches


def _by_needed_word(
    conditions: Mapping[tuple[str, int], SearchCondition],
) -> tuple[dict[str, list[tuple[str, int]]], list[tuple[str, int]]]:
    """Conditions by a word that an entry needs to match, and those that may match without any word."""
    by_word: dict[str, list[tuple[str, int]]] = {}
    without_words = []
    for key, condition in conditions.items():
        needed = words_needed(condition)
        if needed is None:
            without_words.append(key)
        for word in needed or ():
            by_word.setdefault(word, []).append(key)
    return by_word, without_words


def _prepare(each: ActiveFilter, own: SubscriptionNames | None, feed_id: int, now: datetime) -> PreparedFilter:
    constant = constant_condition(each.condition)
    if constant is not None:
        return PreparedFilter(each, (each.condition, 0), constant)
    resolver = OwnNames(feed_id, each.subscription_id, own or SubscriptionNames("", frozenset(), ()))
    condition = parse_tokens(condition_tokens(each.condition), resolver, now)
    return PreparedFilter(each, (each.condition, each.user_id), condition)


def _names_something(condition: str) -> bool:
    """Whether the condition is not the same for everybody. Dates are not either, which costs no more than a read."""
    try:
        return constant_condition(condition) is None
    except BadCondition:
        return False
