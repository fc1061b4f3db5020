"""Finds the stored entries that a filter matches, through the search index.

What no index can answer, a regular expression, is left out of the search; the entries that it finds are then read and
checked one by one.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from feedmill.errors import CallerError
from feedmill.lazy_loggers import get_logger
from feedmill.library.filters.conditions import parse_condition
from feedmill.library.filters.entry_facts import holds, stored_entry_facts
from feedmill.library.filters.manage_filters import check_scope
from feedmill.model.entry_lists import ListPosition
from feedmill.model.filters.entry_filter import FilterKind, FilterScope, ScopeKind
from feedmill.model.search_query import And, DateRange, InFeeds, Not, Or, RegexMatch, SearchCondition
from feedmill.store.database import Database
from feedmill.store.filters.filterable_entries import FilterableEntry, filterable_entries
from feedmill.store.filters.filters import filters_of
from feedmill.store.filters.stored_matches import MatchKey, find_match_keys
from feedmill.store.subscriptions.folders import subscriptions_in_folder
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of

log = get_logger(__name__)

# Always true.
EVERYTHING = DateRange()


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """A condition on stored entries: what the index answers, and the whole of it, if that is not the same."""

    indexed: SearchCondition
    unindexed: SearchCondition | None

    @property
    def whole(self) -> SearchCondition:
        return self.indexed if self.unindexed is None else self.unindexed

    def between(self, since: datetime | None, until: datetime | None) -> "StoredSearch":
        """The same search, among the entries of a time."""
        return replace(self, indexed=And((DateRange(since, until), self.indexed)))


async def stored_search(db: Database, user_id: int, condition: str, scope: FilterScope, now: datetime) -> StoredSearch:
    """The search for a condition in a scope of the user's; raises `BadCondition`, or `NotFound` for the scope."""
    await check_scope(db, user_id, scope)
    parsed = await parse_condition(db, user_id, condition, now)
    feeds = await _feeds_in(db, user_id, scope)
    indexed = without_regexes(parsed)
    within = indexed if feeds is None else And((feeds, indexed))
    return StoredSearch(within, None if indexed == parsed else parsed)


async def without_followed(db: Database, user_id: int, search: StoredSearch, now: datetime) -> StoredSearch:
    """The same search, without the entries that the user follows: no mute hides them."""
    followed: list[SearchCondition] = []
    for each in await filters_of(db, user_id):
        if each.kind is FilterKind.FOLLOW and each.enabled and not each.is_expired(now):
            try:
                followed.append((await stored_search(db, user_id, each.condition, each.scope, now)).whole)
            except CallerError as error:
                # Its folder or feed is gone: it follows nothing.
                log.warning("filter_unreadable", filter_id=each.id, reason=str(error))
    if not followed:
        return search
    return replace(search, unindexed=And((search.whole, Not(Or(tuple(followed))))))


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time on a clock, in seconds."""

    at: float
    clock: Callable[[], float]

    @classmethod
    def after(cls, limit: timedelta, clock: Callable[[], float] = time.monotonic) -> Self:
        return cls(clock() + limit.total_seconds(), clock)

    @property
    def has_passed(self) -> bool:
        return self.clock() >= self.at


class MatchPage(NamedTuple):
    """The newest entries that the index finds, and those of them that match.

    `is_cut`: time was up before all that the index finds was checked; what follows the last one was not.
    """

    found: Sequence[MatchKey]
    matching: Sequence[MatchKey]
    is_cut: bool = False


async def find_stored_matches(
    db: Database,
    user_id: int,
    search: StoredSearch,
    most: int,
    deadline: Deadline,
    below: ListPosition | None = None,
) -> MatchPage:
    """A page of matches, those below a position if it is given.

    Of what the index can't answer, the page has what is checked before the deadline, and one entry in any case.
    """
    found = await find_match_keys(db, search.indexed, user_id, most, below)
    subscribed = [key for key in found if key.is_subscribed]
    if search.unindexed is None:
        return MatchPage(found, subscribed)
    candidates = {each.id: each for each in await filterable_entries(db, [key.entry_id for key in subscribed])}
    return await asyncio.to_thread(_check, search.unindexed, found, candidates, deadline)


def without_regexes(condition: SearchCondition) -> SearchCondition:
    """A condition that holds whenever this one does, without regular expressions."""
    match condition:
        case RegexMatch():
            return EVERYTHING
        case Not(part=part):
            # The negation of something wider would be narrower.
            return condition if without_regexes(part) == part else EVERYTHING
        case And(parts=parts):
            wider = [part for part in map(without_regexes, parts) if part != EVERYTHING]
            return And(tuple(wider)) if len(wider) > 1 else wider[0] if wider else EVERYTHING
        case Or(parts=parts):
            either = tuple(map(without_regexes, parts))
            return EVERYTHING if EVERYTHING in either else Or(either)
    return condition


async def _feeds_in(db: Database, user_id: int, scope: FilterScope) -> InFeeds | None:
    if scope.kind is ScopeKind.ALL:
        return None
    chosen = {scope.id}
    if scope.kind is ScopeKind.FOLDER and scope.id is not None:
        chosen = set(await subscriptions_in_folder(db, user_id, scope.id) or ())
    return InFeeds(tuple(each.feed_id for each in await subscriptions_of(db, user_id) if each.id in chosen))


def _check(
    condition: SearchCondition, found: Sequence[MatchKey], candidates: Mapping[int, FilterableEntry], deadline: Deadline
) -> MatchPage:
    """Those of the entries that were found for which the condition holds, up to the deadline."""
    matching: list[MatchKey] = []
    for place, key in enumerate(found):
        if place and deadline.has_passed:
            return MatchPage(found[:place], matching, is_cut=True)
        entry = candidates.get(key.entry_id)
        if entry is not None and holds(condition, stored_entry_facts(entry)):
            matching.append(key)
    return MatchPage(found, matching)
