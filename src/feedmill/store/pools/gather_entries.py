"""Turns entries into pool items, and reads the entries that pool rules are matched against."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, ColumnElement, bindparam, cast, exists, func, or_, select

from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.pool import PoolKind
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import InsertNew, as_list, one_of
from feedmill.store.entries.entry_dates import entry_date
from feedmill.store.schema import entries, entry_labels, feeds, labels, pool_groups, pool_items

PAGE = 500


def _digits(moment: ColumnElement[str]) -> ColumnElement[str]:
    """The digits of a timestamp, up to the seconds."""
    digits: ColumnElement[str] = func.substr(moment, 1, 19)
    for sign in "-T:":
        digits = func.replace(digits, sign, "")
    return digits


# The batch number is the time of the refresh that brought the entry, such as 20260218083000. It grows, is readable,
# and does not depend on when the entry is put into the pool.
batch_number = cast(_digits(entries.c.first_seen_at), BigInteger)
_columns = ["group_id", "kind", "entry_id", "batch_id", "changed_at"]
_joining = select(pool_groups.c.id, bindparam("kind"), entries.c.id, batch_number, bindparam("at")).where(
    pool_groups.c.id == bindparam("group")
)
# Locked until the batch ends, so that nobody deletes the groups meanwhile.
LOCK_GROUPS = select(pool_groups.c.id).where(one_of(pool_groups.c.id, "groups")).with_for_update(read=True)
ADD_NEW = InsertNew(pool_items).from_select(
    _columns,
    _joining.where(entries.c.feed_id == bindparam("feed_id"), one_of(entries.c.guid, "guids")).order_by(entries.c.id),
)
ADD_STORED = InsertNew(pool_items).from_select(
    _columns, _joining.where(one_of(entries.c.id, "ids")).order_by(entries.c.id)
)

_candidates = (
    select(
        entries.c.id,
        entries.c.feed_id,
        feeds.c.folder,
        entry_date.label("date"),
        entries.c.title,
        entries.c.summary,
        entries.c.content_html,
        func.coalesce(entries.c.language, feeds.c.language).label("language"),
    )
    .select_from(entries.join(feeds, feeds.c.id == entries.c.feed_id))
    # Private feeds belong to one user and go into no pool.
    .where(entries.c.id > bindparam("after"), feeds.c.url.not_like(f"%{PRIVATE_URL_MARKER}%"))
    .order_by(entries.c.id)
    .limit(PAGE)
)
CANDIDATES = _candidates
_labels_of = select(pool_groups.c.labels_user_id).where(pool_groups.c.id == bindparam("group")).scalar_subquery()
LABELLED = _candidates.where(
    exists().where(
        entry_labels.c.entry_id == entries.c.id,
        entry_labels.c.label_id == labels.c.id,
        labels.c.user_id == _labels_of,
        one_of(labels.c.name, "names"),
    ),
    ~exists().where(
        pool_items.c.group_id == bindparam("group"),
        or_(*(pool_items.c.kind == kind for kind in PoolKind)),
        pool_items.c.entry_id == entries.c.id,
    ),
)
NEWEST = select(func.coalesce(func.max(entries.c.id), 0).label("id"))


@dataclass(frozen=True, slots=True)
class StoredCandidate:
    """A stored entry that the rules of pool groups are matched against."""

    id: int
    feed_id: int
    folder: tuple[str, ...]
    date: datetime
    language: str | None
    title: str | None
    html: str | None


def steps_to_add_new_entries(feed_id: int, guids: dict[tuple[int, PoolKind], list[str]], now: datetime) -> list[Step]:
    """The steps that put new entries into pools, for the batch that stores them."""
    if not guids:
        return []
    lock = Step(LOCK_GROUPS, {"groups": as_list(sorted({group for group, _ in guids}))})
    same = {"feed_id": feed_id, "at": to_iso(now)}
    return [
        lock,
        *(
            Step(ADD_NEW, same | {"group": group, "kind": kind, "guids": as_list(some)})
            for (group, kind), some in guids.items()
        ),
    ]


async def add_stored_entries(db: Database, ids: dict[tuple[int, PoolKind], list[int]], now: datetime) -> None:
    """Puts stored entries into pools; those that are in them already stay unchanged."""
    if ids:
        lock = Step(LOCK_GROUPS, {"groups": as_list(sorted({group for group, _ in ids}))})
        at = to_iso(now)
        additions = [
            Step(ADD_STORED, {"group": group, "kind": kind, "ids": as_list(some), "at": at})
            for (group, kind), some in ids.items()
        ]
        await db.batch([lock, *additions])


async def candidates_after(db: Database, after: int) -> list[StoredCandidate]:
    """A page of entries with ids above `after`, by id."""
    return [_candidate(row) for row in await db.query(CANDIDATES, {"after": after})]


async def labelled_candidates_after(
    db: Database, group_id: int, names: Sequence[str], after: int
) -> list[StoredCandidate]:
    """A page of entries with ids above `after` that have one of these labels and are not in the group."""
    rows = await db.query(LABELLED, {"after": after, "group": group_id, "names": as_list(list(names))})
    return [_candidate(row) for row in rows]


async def newest_entry_id(db: Database) -> int:
    [row] = await db.query(NEWEST)
    return int(row["id"])


def _candidate(row: Row) -> StoredCandidate:
    return StoredCandidate(
        id=row["id"],
        feed_id=row["feed_id"],
        folder=tuple(msgspec.json.decode(row["folder"], type=list[str])) if row["folder"] else (),
        date=from_iso(row["date"]),
        language=row["language"],
        title=row["title"],
        html=row["content_html"] or row["summary"],
    )
