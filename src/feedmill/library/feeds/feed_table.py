"""A user's feeds as a table: filtered, sorted, with figures for each feed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from feedmill.i18n.natural_order import natural_key
from feedmill.library.subscriptions.folders import folder_and_descendants, folder_paths
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.feeds.statistics import archived_bytes_by_feed, entries_by_day
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of

WEEKS = 13
NO_FOLDER = 0


@dataclass(frozen=True, slots=True)
class FeedTableQuery:
    """`folder_id` None: any folder; `NO_FOLDER`: feeds without a folder. `page` counts from 1."""

    text: str = ""
    state: str = ""
    folder_id: int | None = None
    sort: str = "title"
    down: bool = False
    page: int = 1
    most: int = 100


@dataclass(frozen=True, slots=True)
class FeedRow:
    """`weeks` are the numbers of entries of the last weeks, the oldest first."""

    subscription: Subscription
    folders: list[str]
    bytes: int
    weeks: list[int]


@dataclass(frozen=True, slots=True)
class FeedTable:
    """`found` counts the feeds that match, `every` all of the user's; `states` counts feeds by state."""

    rows: list[FeedRow]
    found: int
    every: int
    states: dict[str, int] = field(default_factory=dict)


async def feed_table(db: Database, user_id: int, query: FeedTableQuery, now: datetime) -> FeedTable:
    folders = await folders_of(db, user_id)
    subscriptions = await subscriptions_of(db, user_id)
    paths = {id: " / ".join(path) for id, path in folder_paths(folders).items()}
    within = folder_and_descendants(folders, query.folder_id) if query.folder_id else set()
    fitting = [each for each in subscriptions if _fits(each, query, within)]
    sizes = await archived_bytes_by_feed(db, [each.feed_id for each in fitting]) if query.sort == "size" else {}
    fitting.sort(key=_key(query.sort, paths, sizes), reverse=query.down)
    start = (query.page - 1) * query.most
    shown = fitting[start : start + query.most]
    rows = await _with_figures(db, shown, paths, now)
    return FeedTable(rows, len(fitting), len(subscriptions), _counted(subscriptions))


def _fits(subscription: Subscription, query: FeedTableQuery, within: set[int]) -> bool:
    if query.state and subscription.state != query.state:
        return False
    if query.folder_id == NO_FOLDER and subscription.folder_ids:
        return False
    if query.folder_id and not within.intersection(subscription.folder_ids):
        return False
    words = query.text.casefold().split()
    searched = f"{subscription.title}\n{subscription.url}\n{subscription.site_url or ''}".casefold()
    return all(word in searched for word in words)


def _key(sort: str, paths: dict[int, str], sizes: dict[int, int]) -> Callable[[Subscription], Any]:
    """The sort key of rows, then the title."""
    by: dict[str, Callable[[Subscription], Any]] = {
        "folder": lambda each: [natural_key(paths.get(id, "")) for id in each.folder_ids],
        "unread": lambda each: each.unread_count,
        "items": lambda each: each.entry_count,
        "last": lambda each: each.last_entry_at or "",
        "next": lambda each: each.next_fetch_at or "~",
        "state": lambda each: each.state,
        "size": lambda each: sizes.get(each.feed_id, 0),
    }
    chosen = by.get(sort, _alike)
    return lambda each: (chosen(each), natural_key(each.title), each.id)


def _alike(subscription: Subscription) -> str:
    return ""


async def _with_figures(
    db: Database, shown: Sequence[Subscription], paths: dict[int, str], now: datetime
) -> list[FeedRow]:
    ids = [each.feed_id for each in shown]
    first = (now - timedelta(weeks=WEEKS)).date() + timedelta(days=1)
    sizes = await archived_bytes_by_feed(db, ids)
    days = await entries_by_day(db, ids, datetime.combine(first, datetime.min.time(), now.tzinfo))
    return [
        FeedRow(
            each,
            [paths[id] for id in each.folder_ids if id in paths],
            sizes.get(each.feed_id, 0),
            entries_by_week(days.get(each.feed_id, {}), first),
        )
        for each in shown
    ]


def entries_by_week(days: dict[str, int], first: date) -> list[int]:
    """The number of entries of each week, counted from `first`."""
    weeks = [0] * WEEKS
    for day, n in days.items():
        place = (date.fromisoformat(day) - first).days // 7
        if 0 <= place < WEEKS:
            weeks[place] += n
    return weeks


def _counted(subscriptions: Sequence[Subscription]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in subscriptions:
        counts[each.state] = counts.get(each.state, 0) + 1
    return counts
