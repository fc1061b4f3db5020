"""What an action of a filter changes, as SQL: what changes nothing is not recorded."""

from sqlalchemy import ColumnElement, and_, exists, func, or_

from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.pool import PoolKind, PoolRight
from feedmill.store.schema import (
    entries,
    entry_labels,
    feeds,
    filters,
    full_text_tasks,
    full_texts,
    labels,
    pool_grants,
    pool_groups,
    pool_items,
    service_saves,
    services,
    states,
    unread,
    users,
)

Condition = ColumnElement[bool]

# The text that an entry needs to be in a pool.
POOL_TEXTS = {
    PoolKind.TITLES: entries.c.title,
    PoolKind.CONTENTS: func.coalesce(entries.c.content_html, entries.c.summary),
}
_is_unread = exists().where(
    users.c.id == filters.c.user_id,
    unread.c.list_id == users.c.unread_list_id,
    unread.c.sort_at == entries.c.sort_at,
    unread.c.entry_id == entries.c.id,
)
_state = exists().where(states.c.user_id == filters.c.user_id, states.c.entry_id == entries.c.id)
_is_private = exists().where(feeds.c.id == entries.c.feed_id, feeds.c.url.like(f"%{PRIVATE_URL_MARKER}%"))
_has_full_text = or_(
    exists().where(full_texts.c.entry_id == entries.c.id), exists().where(full_text_tasks.c.entry_id == entries.c.id)
)


def effect_conditions(target: ColumnElement[int]) -> dict[FilterAction, Condition]:
    """What each action changes; `target` is its label, pool group or service."""
    is_own_label = exists().where(labels.c.id == target, labels.c.user_id == filters.c.user_id)
    has_label = exists().where(entry_labels.c.label_id == target, entry_labels.c.entry_id == entries.c.id)
    is_own_service = exists().where(services.c.id == target, services.c.user_id == filters.c.user_id)
    is_saved = exists().where(service_saves.c.service_id == target, service_saves.c.entry_id == entries.c.id)
    return {
        FilterAction.READ: _is_unread,
        FilterAction.HIDE: _is_unread,
        FilterAction.RAISE: _is_unread,
        FilterAction.STAR: ~_state.where(states.c.starred_at.is_not(None)),
        FilterAction.LATER: ~_state.where(states.c.later_at.is_not(None)),
        FilterAction.LABEL: and_(is_own_label, ~has_label),
        FilterAction.POOL: _goes_into_pool(target),
        FilterAction.SAVE: and_(entries.c.link.is_not(None), is_own_service, ~is_saved),
        FilterAction.FULL_TEXT: and_(entries.c.link.is_not(None), ~_has_full_text),
        FilterAction.NOTIFY: entries.c.id.is_not(None),
    }


def _goes_into_pool(group: ColumnElement[int]) -> Condition:
    may_fill = or_(
        exists().where(
            pool_grants.c.group_id == group,
            pool_grants.c.user_id == filters.c.user_id,
            pool_grants.c.access == PoolRight.FILL,
        ),
        exists().where(users.c.id == filters.c.user_id, users.c.is_admin == 1),
    )
    in_pool = exists().where(
        pool_items.c.group_id == group,
        or_(*(pool_items.c.kind == kind for kind in PoolKind)),
        pool_items.c.entry_id == entries.c.id,
    )
    # Private feeds belong to one user and go into no pool.
    return and_(exists().where(pool_groups.c.id == group), may_fill, ~_is_private, ~in_pool)
