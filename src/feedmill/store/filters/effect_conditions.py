"""What an action of a filter changes, as SQL: what changes nothing is not recorded.

The statements name the filter `of_filter`, and the label or pool group `target`.
"""

from sqlalchemy import ColumnElement, String, and_, bindparam, exists, func, or_, select

from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.pool import PoolKind, PoolRight
from feedmill.store.columns import Id
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
    states,
    unread,
    users,
)

Condition = ColumnElement[bool]

target: ColumnElement[int] = bindparam("target", type_=Id)
# Rows for `filter_effects`.
new_effects = select(
    filters.c.user_id.label("a"),
    bindparam("action", type_=String).label("b"),
    entries.c.id.label("c"),
    target.label("d"),
    filters.c.id.label("e"),
    bindparam("job", type_=Id).label("f"),
    bindparam("at", type_=String).label("g"),
).where(filters.c.id == bindparam("of_filter"))
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
_is_own_label = exists().where(labels.c.id == target, labels.c.user_id == filters.c.user_id)
_has_label = exists().where(entry_labels.c.label_id == target, entry_labels.c.entry_id == entries.c.id)
_may_fill = or_(
    exists().where(
        pool_grants.c.group_id == target,
        pool_grants.c.user_id == filters.c.user_id,
        pool_grants.c.access == PoolRight.FILL,
    ),
    exists().where(users.c.id == filters.c.user_id, users.c.is_admin == 1),
)
_is_private = exists().where(feeds.c.id == entries.c.feed_id, feeds.c.url.like(f"%{PRIVATE_URL_MARKER}%"))
_in_pool = exists().where(
    pool_items.c.group_id == target,
    or_(*(pool_items.c.kind == kind for kind in PoolKind)),
    pool_items.c.entry_id == entries.c.id,
)
_has_full_text = or_(
    exists().where(full_texts.c.entry_id == entries.c.id), exists().where(full_text_tasks.c.entry_id == entries.c.id)
)

CHANGES: dict[FilterAction, Condition] = {
    FilterAction.READ: _is_unread,
    FilterAction.HIDE: _is_unread,
    FilterAction.RAISE: _is_unread,
    FilterAction.STAR: ~_state.where(states.c.starred_at.is_not(None)),
    FilterAction.LATER: ~_state.where(states.c.later_at.is_not(None)),
    FilterAction.LABEL: and_(_is_own_label, ~_has_label),
    # Private feeds belong to one user and go into no pool.
    FilterAction.POOL: and_(exists().where(pool_groups.c.id == target), _may_fill, ~_is_private, ~_in_pool),
    FilterAction.FULL_TEXT: and_(entries.c.link.is_not(None), ~_has_full_text),
    FilterAction.NOTIFY: entries.c.id.is_not(None),
}
