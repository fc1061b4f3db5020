"""Plans of filters: made once for each version of a user's filters, and never used for another."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from feedmill.library.filters.filter_plans import FilterPlan, PlanCache, make_plan, plans_of
from feedmill.model.filters.entry_filter import ALL_FEEDS, FilterActions, FilterDraft, FilterKind
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.filters import filters as store
from feedmill.store.filters.active_filters import ActiveFilter, FilteringSubscriber, filters_version
from feedmill.store.users.users import add_user

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
STAR = FilterActions(star=True)
KILNS = FilterDraft("Kilns", "kilns", actions=STAR)


def active(id: int, condition: str) -> ActiveFilter:
    return ActiveFilter(id, 1, FilterKind.FILTER, condition, STAR, False, ALL_FEEDS, None)


def plan_of(*conditions: str) -> FilterPlan:
    return make_plan([active(id, condition) for id, condition in enumerate(conditions, 1)])


async def alice(db: Database) -> User:
    return await add_user(db, "alice", None, False, NOW)


async def subscriber(db: Database, user: User) -> FilteringSubscriber:
    version = await filters_version(db, user.id)
    assert version is not None
    return FilteringSubscriber(user.id, 7, version)


def test_filters_are_found_by_a_word_that_they_need() -> None:
    plan = plan_of("kilns", "glaz*", "kilns OR clay", "has:image", "date:>1d")

    assert plan.by_word == {"kilns": [0, 2], "glaz*": [1], "clay": [2]}
    assert (plan.words, plan.prefixes) == ({"kilns", "clay"}, ("glaz*",))
    assert plan.without_words == (3, 4)


def test_a_filter_that_can_no_longer_be_parsed_is_left_out() -> None:
    plan = plan_of("(kilns", "clay")

    assert [each.id for each in plan.filters] == [2]
    assert plan.by_word == {"clay": [0]}


def test_a_plan_with_expressions_takes_the_place_of_many() -> None:
    plan = plan_of("/kilns/", "kilns", "in:title:/kilns/ /glaze/")
    cache = PlanCache(most_filters=plan.size)

    cache.put("a", plan)
    kept = cache.get("a")
    cache.put("b", plan_of("clay"))

    assert sorted(plan.regexes) == ["glaze", "kilns"]
    assert (kept, cache.get("a")) == (plan, None)


def test_the_plans_used_last_stay_within_the_limit() -> None:
    cache = PlanCache(most_filters=4)
    cache.put("a", plan_of("one", "two"))
    cache.put("b", plan_of("three", "four"))

    cache.get("a")
    cache.put("c", plan_of("five"))

    assert cache.get("b") is None
    assert [cache.get(version) is not None for version in ("a", "c")] == [True, True]


def test_a_plan_beyond_the_limit_is_not_kept() -> None:
    cache = PlanCache(most_filters=1)

    cache.put("a", plan_of("one", "two"))

    assert cache.get("a") is None


Change = Callable[[Database, int, int], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "added": lambda db, user, _: store.add_filter(db, user, FilterKind.FILTER, KILNS, None, NOW),
    "saved": lambda db, user, id: store.save_filter(db, user, id, KILNS, NOW),
    "turned off": lambda db, user, id: store.enable_filter(db, user, id, NOW, enabled=False),
    "muted for longer": lambda db, user, id: store.set_filter_expiry(db, user, id, NOW + timedelta(days=1)),
    "deleted": lambda db, user, id: store.delete_filter(db, user, id, NOW),
    "ordered": lambda db, user, id: store.order_filters(db, user, [id]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_every_change_of_a_filter_makes_another_version(db: Database, change: Change) -> None:
    user, bob = await alice(db), await add_user(db, "bob", None, False, NOW)
    own = await store.add_filter(db, user.id, FilterKind.FILTER, KILNS, None, NOW)
    before = await filters_version(db, user.id)

    await change(db, user.id, own.id)

    assert await filters_version(db, user.id) != before
    assert await filters_version(db, bob.id) is None


async def test_a_plan_is_made_once_for_each_version(db: Database) -> None:
    user, cache = await alice(db), PlanCache()
    own = await store.add_filter(db, user.id, FilterKind.FILTER, KILNS, None, NOW)
    before = await subscriber(db, user)
    [first] = await plans_of(db, [before], cache)

    [second] = await plans_of(db, [before], cache)
    await store.enable_filter(db, user.id, own.id, NOW, enabled=False)
    [third] = await plans_of(db, [await subscriber(db, user)], cache)

    assert second is first
    assert ([each.id for each in first.filters], third.filters) == ([own.id], ())
