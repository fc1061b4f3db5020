"""Lists, creates, changes, orders and deletes the filters of a user."""

from collections.abc import Sequence
from datetime import datetime

from feedmill.errors import BadInput, NotFound, UnknownGroup
from feedmill.i18n.messages import Message
from feedmill.library.filters.conditions import parse_condition, regexes_of
from feedmill.library.users.limits import check_count_limit
from feedmill.model.filters.entry_filter import (
    EntryFilter,
    FilterActions,
    FilterDraft,
    FilterKind,
    FilterScope,
    ScopeKind,
)
from feedmill.model.filters.filter_history import FilterJob
from feedmill.model.pool import PoolRight
from feedmill.model.timestamps import iso_or_none
from feedmill.model.user import Caller, PoolGroupName
from feedmill.store.database import Database
from feedmill.store.entries.labels import has_labels
from feedmill.store.filters import filters as store
from feedmill.store.filters.filter_jobs import start_filter_job
from feedmill.store.pools.grants import pool_access
from feedmill.store.pools.groups import all_groups
from feedmill.store.services.services import services_of
from feedmill.store.subscriptions.folders import subscriptions_in_folder
from feedmill.store.subscriptions.read_subscriptions import has_subscription

LONGEST_NAME = 190
MOST_TARGETS = 20
# Of all filters of a user. They share the time that a user's expressions have in a refresh.
MOST_REGEXES_OF_USER = 50


async def filters_of_user(db: Database, user_id: int, kind: FilterKind | None = None) -> list[EntryFilter]:
    """The user's filters in their order; of one kind, if it is given."""
    return [each for each in await store.filters_of(db, user_id) if kind is None or each.kind is kind]


async def find_filter(db: Database, user_id: int, filter_id: int) -> EntryFilter:
    """The user's filter, or `NotFound`, also for somebody else's."""
    found = await store.filter_of(db, user_id, filter_id)
    if found is None:
        raise no_such_filter()
    return found


async def create_filter(db: Database, who: Caller, draft: FilterDraft, now: datetime) -> EntryFilter:
    """Adds a filter after the others; raises `BadCondition`, `BadInput`, or `NotFound` for what is not the user's."""
    await check_count_limit(db, who.user.id, "filters")
    await _check_draft(db, who, draft, now)
    check_expiry(draft.expires_at, now)
    await _check_regex_count(db, who.user.id, draft)
    return await store.add_filter(db, who.user.id, FilterKind.FILTER, draft, None, now)


async def change_filter(db: Database, who: Caller, filter_id: int, draft: FilterDraft, now: datetime) -> EntryFilter:
    """Changes a filter, for entries that arrive from now on; raises as `create_filter` does."""
    before = await find_filter(db, who.user.id, filter_id)
    if before.kind is not FilterKind.FILTER:
        raise BadInput(Message("error.mute_has_no_draft"))
    await _check_draft(db, who, draft, now)
    # One that has ended can be renamed without beginning again.
    if iso_or_none(draft.expires_at) != before.expires_at:
        check_expiry(draft.expires_at, now)
    await _check_regex_count(db, who.user.id, draft, filter_id)
    await store.save_filter(db, who.user.id, filter_id, draft, now)
    return await find_filter(db, who.user.id, filter_id)


async def order_filters(db: Database, user_id: int, filter_ids: Sequence[int]) -> None:
    """Puts these filters first, in this order; the others follow in theirs. `NotFound` if one is not the user's."""
    known = [each.id for each in await store.filters_of(db, user_id)]
    first = list(dict.fromkeys(filter_ids))
    if not set(first) <= set(known):
        raise no_such_filter()
    await store.order_filters(db, user_id, [*first, *(id for id in known if id not in set(first))])


async def enable_filter(
    db: Database, user_id: int, filter_id: int, now: datetime, *, enabled: bool, revert: bool = False
) -> FilterJob | None:
    """Turns the filter on, or off, which ends a job that applies it; with `revert`, the job that takes back all."""
    if not await store.enable_filter(db, user_id, filter_id, now, enabled=enabled):
        raise no_such_filter()
    return await start_filter_job(db, user_id, filter_id, "revert", now) if revert else None


async def delete_filter(
    db: Database, user_id: int, filter_id: int, now: datetime, *, revert: bool = False
) -> FilterJob | None:
    """Deletes the filter; with `revert`, the job that takes back all that it did. Otherwise that stays as it is."""
    if not await store.delete_filter(db, user_id, filter_id, now):
        raise no_such_filter()
    return await start_filter_job(db, user_id, filter_id, "revert", now) if revert else None


def no_such_filter() -> NotFound:
    return NotFound(Message("error.no_such_filter"))


async def fillable_groups(db: Database, who: Caller) -> list[PoolGroupName]:
    """The pool groups that the caller may fill, by name."""
    access = await pool_access(db, who, PoolRight.FILL)
    return [PoolGroupName(group.id, group.name) for group in await all_groups(db) if access.allows(group.id)]


async def check_scope(db: Database, user_id: int, scope: FilterScope) -> None:
    """`NotFound` if the folder or subscription is not the user's."""
    if scope.kind is ScopeKind.ALL:
        return
    if scope.id is None:
        raise BadInput(Message("error.filter_scope_gone"), "scope")
    if scope.kind is ScopeKind.FOLDER and await subscriptions_in_folder(db, user_id, scope.id) is None:
        raise NotFound(Message("error.no_such_folder"))
    if scope.kind is ScopeKind.FEED and not await has_subscription(db, user_id, scope.id):
        raise NotFound(Message("error.no_such_feed"))


async def _check_draft(db: Database, who: Caller, draft: FilterDraft, now: datetime) -> None:
    if not draft.name.strip() or len(draft.name) > LONGEST_NAME:
        raise BadInput(Message("error.filter_name", n=LONGEST_NAME), "name")
    await parse_condition(db, who.user.id, draft.condition, now)
    await check_scope(db, who.user.id, draft.scope)
    await _check_actions(db, who, draft.actions)


async def _check_regex_count(db: Database, user_id: int, draft: FilterDraft, filter_id: int | None = None) -> None:
    """`BadInput` if the user has too many regular expressions with this filter, which is `filter_id` so far."""
    if not (regexes := regexes_of(draft.condition)):
        return
    for each in await store.filters_of(db, user_id):
        if each.id != filter_id:
            regexes += regexes_of(each.condition)
    if len(regexes) > MOST_REGEXES_OF_USER:
        raise BadInput(Message("error.filter_many_regexes", n=MOST_REGEXES_OF_USER), "condition")


async def _check_actions(db: Database, who: Caller, actions: FilterActions) -> None:
    if not actions.targets:
        raise BadInput(Message("error.filter_does_nothing"), "actions")
    if max(len(actions.label_ids), len(actions.pool_group_ids), len(actions.service_ids)) > MOST_TARGETS:
        raise BadInput(Message("error.filter_many_targets", n=MOST_TARGETS), "actions")
    if actions.label_ids and not await has_labels(db, who.user.id, actions.label_ids):
        raise NotFound(Message("error.no_such_label"))
    if actions.pool_group_ids:
        allowed = {group.id for group in await fillable_groups(db, who)}
        if unknown := set(actions.pool_group_ids) - allowed:
            raise UnknownGroup(Message("error.no_such_pool_group", name=str(min(unknown))))
    if actions.service_ids:
        own = {service.id for service in await services_of(db, who.user.id)}
        if not own.issuperset(actions.service_ids):
            raise NotFound(Message("error.no_such_service"))


def check_expiry(until: datetime | None, now: datetime) -> None:
    if until is not None and until <= now:
        raise BadInput(Message("error.filter_ends_before_now"), "expires_at")
