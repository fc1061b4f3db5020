"""Plans: the filters of a user, parsed and indexed by the words that an entry needs to match.

A plan is made once for each version of a user's filters and cached in the process, because every refresh needs it.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from feedmill.lazy_loggers import get_logger
from feedmill.library.filters.conditions import BadCondition, constant_condition, regexes_of
from feedmill.library.filters.entry_facts import words_needed
from feedmill.library.filters.regular_expressions import BadRegex, CompiledRegex, compile_regex
from feedmill.model.filters.entry_filter import ScopeKind
from feedmill.model.search_query import SearchCondition
from feedmill.store.database import Database
from feedmill.store.filters.active_filters import ActiveFilter, FilteringSubscriber, active_filters

log = get_logger(__name__)

# A parsed filter takes about a kilobyte.
MOST_CACHED_FILTERS = 20_000
# A compiled expression takes as much memory as so many filters; the worst, twenty times that.
FILTERS_PER_REGEX = 50


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """The filters of a user in the order of application, each with its condition.

    A condition is None if it depends on the subscription or on the time. `by_word` has the places of filters by a word
    that an entry needs to match; `without_words` has those of the others. `words` and `prefixes` are the words, and the
    beginnings of words, of `by_word`. `regexes` are the compiled expressions of the conditions, by pattern.
    """

    filters: tuple[ActiveFilter, ...]
    conditions: tuple[SearchCondition | None, ...]
    by_word: Mapping[str, Sequence[int]]
    words: frozenset[str]
    prefixes: tuple[str, ...]
    without_words: tuple[int, ...]
    regexes: Mapping[str, CompiledRegex]

    @property
    def size(self) -> int:
        """The memory that it takes, in filters."""
        return len(self.filters) + FILTERS_PER_REGEX * len(self.regexes)

    @property
    def uses_names(self) -> bool:
        """Whether a condition or a scope is about names or folders, as far as can be told."""
        return None in self.conditions or any(each.scope.kind is ScopeKind.FOLDER for each in self.filters)


def make_plan(filters: Sequence[ActiveFilter]) -> FilterPlan:
    """The plan of one user's filters. One that can no longer be parsed matches nothing."""
    kept: list[ActiveFilter] = []
    conditions: list[SearchCondition | None] = []
    by_word, without_words = defaultdict[str, list[int]](list), []
    regexes: dict[str, CompiledRegex] = {}
    for each in filters:
        try:
            condition = constant_condition(each.condition)
            regexes.update((pattern, compile_regex(pattern)) for pattern in regexes_of(each.condition))
        except (BadCondition, BadRegex) as error:
            log.warning("filter_unreadable", filter_id=each.id, reason=str(error))
            continue
        needed = None if condition is None else words_needed(condition)
        if needed is None:
            without_words.append(len(kept))
        for word in needed or ():
            by_word[word].append(len(kept))
        kept.append(each)
        conditions.append(condition)
    prefixes = tuple(word for word in by_word if word.endswith("*"))
    words = frozenset(by_word).difference(prefixes)
    return FilterPlan(tuple(kept), tuple(conditions), by_word, words, prefixes, tuple(without_words), regexes)


@dataclass(slots=True)
class PlanCache:
    """The plans that were used last, by the version of the filters; versions are random and never used again."""

    most_filters: int = MOST_CACHED_FILTERS
    _plans: OrderedDict[str, FilterPlan] = field(default_factory=OrderedDict)
    _size: int = 0

    def get(self, version: str) -> FilterPlan | None:
        plan = self._plans.get(version)
        if plan is not None:
            self._plans.move_to_end(version)
        return plan

    def put(self, version: str, plan: FilterPlan) -> None:
        if version not in self._plans:
            self._plans[version] = plan
            self._size += plan.size
        while self._size > self.most_filters:
            _, oldest = self._plans.popitem(last=False)
            self._size -= oldest.size


_CACHE = PlanCache()


async def plans_of(
    db: Database, subscribers: Sequence[FilteringSubscriber], cache: PlanCache = _CACHE
) -> list[FilterPlan]:
    """The plan of each subscriber; only those that are not cached are read."""
    plans = {each.user_id: plan for each in subscribers if (plan := cache.get(each.version)) is not None}
    missing = [each for each in subscribers if each.user_id not in plans]
    if missing:
        read = await active_filters(db, [each.user_id for each in missing])
        for each in missing:
            plans[each.user_id] = make_plan(read[each.user_id])
            cache.put(each.version, plans[each.user_id])
    return [plans[each.user_id] for each in subscribers]
