"""Reads the filters that apply to the new entries of a feed, of all its subscribers at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import and_, bindparam, or_, select

from feedmill.model.filters.entry_filter import FilterActions, FilterKind
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.filters.filters import decode_actions
from feedmill.store.schema import feeds, filters, folder_subscriptions, folders, subscriptions

_is_active = and_(
    filters.c.enabled == 1,
    filters.c.deleted_at.is_(None),
    or_(filters.c.expires_at.is_(None), filters.c.expires_at > bindparam("now")),
)
_columns = (
    filters.c.id,
    filters.c.user_id,
    filters.c.kind,
    filters.c.query,
    filters.c.actions,
    filters.c.stops,
    filters.c.folder_id,
)
_in_order = (filters.c.user_id, filters.c.position, filters.c.id)
OF_FEED = (
    select(*_columns, subscriptions.c.id.label("of_subscription"))
    .join(filters, filters.c.user_id == subscriptions.c.user_id)
    .where(
        subscriptions.c.feed_id == bindparam("feed"),
        subscriptions.c.paused == 0,
        _is_active,
        or_(
            filters.c.scope == "all",
            filters.c.subscription_id == subscriptions.c.id,
            filters.c.folder_id.is_not(None),
        ),
    )
    .order_by(*_in_order)
)
OF_USER = (
    select(*_columns)
    .where(
        filters.c.user_id == bindparam("of_user"),
        _is_active,
        or_(filters.c.scope == "all", filters.c.folder_id.is_not(None)),
    )
    .order_by(*_in_order)
)
FILED_IN = select(folder_subscriptions.c.subscription_id, folder_subscriptions.c.folder_id).where(
    one_of(folder_subscriptions.c.subscription_id, "subscriptions")
)
FOLDERS = select(folders.c.id, folders.c.parent_id, folders.c.name).where(one_of(folders.c.user_id, "users"))
TITLES = (
    select(subscriptions.c.id, subscriptions.c.title, feeds.c.own_title, feeds.c.title.label("feed_title"), feeds.c.url)
    .join(feeds, feeds.c.id == subscriptions.c.feed_id)
    .where(one_of(subscriptions.c.id, "subscriptions"))
)

# The order in which kinds are applied: what a user follows is not muted.
_KINDS = {FilterKind.FOLLOW: 0, FilterKind.MUTE: 1, FilterKind.FILTER: 2}


class ActiveFilter(NamedTuple):
    """A filter that may apply to the entries of a subscription: `folder_id` is the folder that it is limited to."""

    id: int
    user_id: int
    subscription_id: int
    kind: FilterKind
    condition: str
    actions: FilterActions
    stops: bool
    folder_id: int | None


class SubscriptionNames(NamedTuple):
    """The names by which conditions refer to a subscription: its title and URL, its folders and those above them."""

    title: str
    folder_ids: frozenset[int]
    folder_names: tuple[str, ...]


async def active_filters(db: Database, feed_id: int, now: datetime) -> list[ActiveFilter]:
    """The filters of the subscribers who have not paused the feed, those of a user in the order of application."""
    rows = await db.query(OF_FEED, {"feed": feed_id, "now": to_iso(now)})
    return _sorted([_to_active(row, row["of_subscription"]) for row in rows])


async def filters_for_new_subscription(db: Database, user_id: int, now: datetime) -> list[ActiveFilter]:
    """The user's filters that are not limited to another subscription."""
    rows = await db.query(OF_USER, {"of_user": user_id, "now": to_iso(now)})
    return _sorted([_to_active(row, 0) for row in rows])


async def names_of_subscriptions(
    db: Database, user_ids: Sequence[int], subscription_ids: Sequence[int]
) -> dict[int, SubscriptionNames]:
    """The names of these subscriptions of these users."""
    wanted = {"subscriptions": as_list(list(subscription_ids)), "users": as_list(list(user_ids))}
    by_id = {row["id"]: row for row in await db.query(FOLDERS, wanted)}
    filed: dict[int, set[int]] = {}
    for row in await db.query(FILED_IN, wanted):
        filed.setdefault(row["subscription_id"], set()).update(_with_parents(row["folder_id"], by_id))
    return {
        row["id"]: SubscriptionNames(
            f"{row['title'] or row['own_title'] or row['feed_title'] or ''} {row['url']}",
            frozenset(filed.get(row["id"], ())),
            tuple(by_id[id]["name"] for id in sorted(filed.get(row["id"], ()))),
        )
        for row in await db.query(TITLES, wanted)
    }


def _with_parents(folder_id: int, by_id: dict[int, Row]) -> set[int]:
    found: set[int] = set()
    while folder_id in by_id and folder_id not in found:
        found.add(folder_id)
        folder_id = by_id[folder_id]["parent_id"]
    return found


def _sorted(found: list[ActiveFilter]) -> list[ActiveFilter]:
    return sorted(found, key=lambda each: (each.user_id, _KINDS[each.kind]))


def _to_active(row: Row, subscription_id: int) -> ActiveFilter:
    return ActiveFilter(
        row["id"],
        row["user_id"],
        subscription_id,
        FilterKind(row["kind"]),
        row["query"],
        decode_actions(row["actions"]),
        bool(row["stops"]),
        row["folder_id"],
    )
