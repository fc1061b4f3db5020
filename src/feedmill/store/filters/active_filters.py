"""Reads who of a feed's subscribers has filters, their filters, and the names that conditions may use."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from feedmill.model.filters.entry_filter import FilterActions, FilterKind, FilterScope
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.filters.filters import decode_actions, scope_of
from feedmill.store.schema import feeds, filters, folder_subscriptions, folders, subscriptions, users

SUBSCRIBERS = (
    select(subscriptions.c.id, subscriptions.c.user_id, users.c.filters_version)
    .join(users, users.c.id == subscriptions.c.user_id)
    .where(
        subscriptions.c.feed_id == bindparam("feed"),
        subscriptions.c.paused == 0,
        users.c.filters_version.is_not(None),
    )
    .order_by(subscriptions.c.user_id)
)
VERSION = select(users.c.filters_version).where(users.c.id == bindparam("of_user"))
OF_USERS = (
    select(
        filters.c.id,
        filters.c.user_id,
        filters.c.kind,
        filters.c.query,
        filters.c.actions,
        filters.c.stops,
        filters.c.scope,
        filters.c.folder_id,
        filters.c.subscription_id,
        filters.c.expires_at,
    )
    .where(one_of(filters.c.user_id, "users"), filters.c.enabled == 1, filters.c.deleted_at.is_(None))
    .order_by(filters.c.user_id, filters.c.position, filters.c.id)
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


class FilteringSubscriber(NamedTuple):
    """A subscriber with filters; `version` changes whenever they do."""

    user_id: int
    subscription_id: int
    version: str


class ActiveFilter(NamedTuple):
    """A filter that is on; whether it has expired depends on the time."""

    id: int
    user_id: int
    kind: FilterKind
    condition: str
    actions: FilterActions
    stops: bool
    scope: FilterScope
    expires_at: str | None


class SubscriptionNames(NamedTuple):
    """The names by which conditions refer to a subscription: its title and URL, its folders and those above them."""

    title: str
    folder_ids: frozenset[int]
    folder_names: tuple[str, ...]


NO_NAMES = SubscriptionNames("", frozenset(), ())


async def filtering_subscribers(db: Database, feed_id: int) -> list[FilteringSubscriber]:
    """The subscribers with filters who have not paused the feed."""
    rows = await db.query(SUBSCRIBERS, {"feed": feed_id})
    return [FilteringSubscriber(row["user_id"], row["id"], row["filters_version"]) for row in rows]


async def filters_version(db: Database, user_id: int) -> str | None:
    """The version of the user's filters; None without any."""
    rows = await db.query(VERSION, {"of_user": user_id})
    return rows[0]["filters_version"] if rows else None


async def active_filters(db: Database, user_ids: Sequence[int]) -> dict[int, list[ActiveFilter]]:
    """By user the filters that are on, in the order of application."""
    found: dict[int, list[ActiveFilter]] = {user_id: [] for user_id in user_ids}
    for row in await db.query(OF_USERS, {"users": as_list(list(user_ids))}):
        found[row["user_id"]].append(_to_active(row))
    return {user_id: sorted(some, key=lambda each: _KINDS[each.kind]) for user_id, some in found.items()}


async def names_of_subscriptions(
    db: Database, subscribers: Sequence[FilteringSubscriber]
) -> dict[int, SubscriptionNames]:
    """The names of these subscriptions, by their ids."""
    wanted = {
        "subscriptions": as_list([each.subscription_id for each in subscribers]),
        "users": as_list([each.user_id for each in subscribers]),
    }
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


def _to_active(row: Row) -> ActiveFilter:
    return ActiveFilter(
        row["id"],
        row["user_id"],
        FilterKind(row["kind"]),
        row["query"],
        decode_actions(row["actions"]),
        bool(row["stops"]),
        scope_of(row),
        row["expires_at"],
    )
