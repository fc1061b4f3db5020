"""Pool items: each change of state is one conditional update, so that the database decides who has an item."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Update, and_, bindparam, case, func, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import literal_column

from feedmill.model.pool import PoolCounts, PoolItemDetails, PoolItemState, PoolKey, PoolKind
from feedmill.model.timestamps import from_iso, iso_or_none, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.newest_texts import newest_text, with_newest_revision
from feedmill.store.schema import entries, pool_items, pool_texts, revisions

_items = pool_items.c
# Added to the batch number of items that go back to the head of their pool; larger than any real batch number.
HEAD: ColumnElement[int] = literal_column("1000000000000000")
AT_HEAD = case((_items.batch_id < HEAD, _items.batch_id + HEAD), else_=_items.batch_id)
OF_POOL = and_(_items.group_id == bindparam("group"), _items.kind == bindparam("pool_kind"))
_in_order = (_items.batch_id.desc(), _items.id)
_next = (
    select(_items.id)
    .where(OF_POOL, _items.status == PoolItemState.AVAILABLE)
    .order_by(*_in_order)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)


class IsNext(ColumnElement[bool]):
    """Whether an item is among the next ones; these are selected once per statement."""

    inherit_cache = False


@compiles(IsNext)
def _in_derived_table(element: IsNext, compiler: SQLCompiler, **kw: Any) -> str:
    # As a derived table, because MySQL does not let an update select from its own table.
    return compiler.process(_items.id.in_(select(_next.subquery("next_items").c.id)), **kw)


@compiles(IsNext, "postgresql")
def _in_array(element: IsNext, compiler: SQLCompiler, **kw: Any) -> str:
    # As an array: a subquery may run once per row, and lock and return other rows each time.
    return f"{compiler.process(_items.id, **kw)} = ANY (ARRAY({compiler.process(_next, **kw)}))"


def change_items(*where: ColumnElement[bool], **values: Any) -> Update:
    """An update of items that also sets when they changed."""
    return pool_items.update().where(*where).values(values | {"changed_at": bindparam("at")})


def listed(*states: PoolItemState) -> tuple[ColumnElement[bool], ...]:
    """Conditions for the items among `ids` that are in one of these states."""
    return one_of(_items.id, "ids"), or_(*(_items.status == state for state in states))


def _number(state: PoolItemState) -> ColumnElement[int]:
    return literal_column(str(int(state)))


# The pool is compared too: the token of one pool settles nothing in another.
_leased = (*listed(PoolItemState.LEASED), _items.taken_by == bindparam("lease_token"), OF_POOL)
# An item with too many attempts becomes dead.
_is_last_attempt = _items.attempts >= bindparam("most_attempts")
_back = {
    "status": case((_is_last_attempt, _number(PoolItemState.DEAD)), else_=_number(PoolItemState.AVAILABLE)),
    "batch_id": AT_HEAD,
    "leased_until": None,
}
CLAIM = change_items(
    IsNext(),
    _items.status == PoolItemState.AVAILABLE,
    status=bindparam("to"),
    taken_by=bindparam("token"),
    attempts=_items.attempts + 1,
    leased_until=bindparam("until"),
)
SETTLE = change_items(*listed(PoolItemState.QUEUED), status=PoolItemState.USED, taken_by=bindparam("token"))
# Held back too: another process may have taken them for lost.
UNDO = change_items(
    _items.taken_by == bindparam("token_undone"),
    or_(_items.status == PoolItemState.QUEUED, _items.status == PoolItemState.HELD),
    status=PoolItemState.AVAILABLE,
    taken_by=None,
    attempts=_items.attempts - 1,
)
ACK = change_items(*_leased, status=PoolItemState.USED, leased_until=None)
NACK = change_items(*_leased, **_back)
# The consumer did not look at these items, so this was no attempt.
GIVE_BACK = change_items(
    *_leased, status=PoolItemState.AVAILABLE, batch_id=AT_HEAD, attempts=_items.attempts - 1, leased_until=None
)
EXTEND = pool_items.update().where(*_leased).values(leased_until=bindparam("until"))
EXPIRE = change_items(_items.status == PoolItemState.LEASED, _items.leased_until <= bindparam("now"), OF_POOL, **_back)
REQUEUE = change_items(
    OF_POOL,
    _items.status == bindparam("state"),
    status=PoolItemState.AVAILABLE,
    attempts=0,
    taken_by=None,
)
REQUEUE_SOME = REQUEUE.where(one_of(_items.id, "ids"))
COUNT = select(_items.status, func.count().label("items")).where(OF_POOL).group_by(_items.status)
WITH_TEXTS = pool_items.outerjoin(pool_texts, pool_texts.c.id == _items.text_id)
LISTED = (
    select(
        _items.id,
        _items.entry_id,
        pool_texts.c.external_id,
        _items.attempts,
        _items.changed_at,
        _items.taken_by,
    )
    .select_from(WITH_TEXTS)
    .where(OF_POOL, _items.status == bindparam("state"))
    .order_by(_items.changed_at.desc(), _items.id)
    .limit(bindparam("most"))
)
TAKEN = select(_items.id).where(_items.taken_by == bindparam("token"))

# --- texts, as they are now ---------------------------------------------------------------------------------

_with_source = with_newest_revision(WITH_TEXTS.outerjoin(entries, entries.c.id == _items.entry_id))
_texts = {
    PoolKind.TITLES: [newest_text("title")],
    PoolKind.CONTENTS: [newest_text("content_html"), newest_text("summary"), entries.c.base_url, _items.entry_id],
}


def _reading(kind: PoolKind) -> Select[Any]:
    return (
        select(_items.id, _items.attempts, pool_texts.c.text.label("sent_text"), *_texts[kind])
        .select_from(_with_source)
        # Not items whose entry was deleted in this moment.
        .where(or_(entries.c.id.is_not(None), pool_texts.c.id.is_not(None)))
        .order_by(*_in_order)
    )


CLAIMED = {
    kind: _reading(kind).where(_items.taken_by == bindparam("token"), _items.status == bindparam("to"))
    for kind in PoolKind
}
TEXTS = {kind: _reading(kind).where(one_of(_items.id, "ids")) for kind in PoolKind}
POOL_OF_ITEM = select(_items.group_id, _items.kind).where(_items.id == bindparam("item_id"))
# Queued items, and whether the entry was revised since. Items are deleted with their entry, so the entry exists.
_edited = (
    select(func.count())
    .where(revisions.c.entry_id == _items.entry_id, revisions.c.seen_at >= _items.changed_at)
    .correlate(pool_items)
    .scalar_subquery()
)
USED_AMONG = select(func.count().label("items")).where(*listed(PoolItemState.USED))
QUEUED_AND_EDITED = select(_items.id, _edited.label("edited")).where(*listed(PoolItemState.QUEUED))


@dataclass(frozen=True, slots=True)
class PoolItemSource:
    """An item with what its text is made of: `sent_text` of another program, or the fields of its entry by kind."""

    id: int
    attempts: int
    sent_text: str | None = None
    title: str | None = None
    content_html: str | None = None
    summary: str | None = None
    base_url: str | None = None
    entry_id: int | None = None


async def claim_items(
    db: Database, pool: PoolKey, most: int, to: PoolItemState, token: str, now: datetime, until: datetime | None = None
) -> list[PoolItemSource]:
    """Claims the next available items, newest batch first; each goes to one caller."""
    values = {
        **pool.values,
        "most": most,
        "to": to,
        "token": token,
        "at": to_iso(now),
        "until": iso_or_none(until),
    }
    [taken] = await db.batch([Step(CLAIM, values)])
    rows = await db.query(CLAIMED[pool.kind], {"token": token, "to": to}) if taken else []
    return [PoolItemSource(**row) for row in rows]


async def undo_queueing(db: Database, token: str, now: datetime) -> int:
    """Makes the items available again that were reserved with `token` and never shown to anybody."""
    [undone] = await db.batch([Step(UNDO, {"token_undone": token, "at": to_iso(now)})])
    return undone


async def count_used(db: Database, ids: Sequence[int]) -> int:
    """How many of these items are used."""
    [row] = await db.query(USED_AMONG, {"ids": as_list(list(ids))})
    return int(row["items"])


async def queued_and_edited(db: Database, ids: Sequence[int]) -> dict[int, bool]:
    """Those of these items that are queued; True for one whose entry was revised since."""
    rows = await db.query(QUEUED_AND_EDITED, {"ids": as_list(list(ids))})
    return {row["id"]: bool(row["edited"]) for row in rows}


async def settle_items(db: Database, ids: Sequence[int], token: str, now: datetime) -> int:
    """Marks queued items as used; how many of them were still queued."""
    [settled] = await db.batch([Step(SETTLE, {"ids": as_list(list(ids)), "token": token, "at": to_iso(now)})])
    return settled


async def item_ids_taken_with(db: Database, token: str) -> set[int]:
    return {row["id"] for row in await db.query(TAKEN, {"token": token})}


async def read_item_sources(db: Database, kind: PoolKind, ids: Sequence[int]) -> list[PoolItemSource]:
    return [PoolItemSource(**row) for row in await db.query(TEXTS[kind], {"ids": as_list(list(ids))})]


async def pool_of_item(db: Database, item_id: int) -> PoolKey | None:
    """The pool that the item is in; None when there is no such item."""
    rows = await db.query(POOL_OF_ITEM, {"item_id": item_id})
    return PoolKey(rows[0]["group_id"], PoolKind(rows[0]["kind"])) if rows else None


async def ack_items(db: Database, pool: PoolKey, ids: Sequence[int], token: str, now: datetime) -> int:
    """Acknowledges leased items; how many were still leased with that token."""
    [acked] = await db.batch([Step(ACK, {**_held(pool, ids, token), "at": to_iso(now)})])
    return acked


async def nack_items(
    db: Database, pool: PoolKey, ids: Sequence[int], token: str, most_attempts: int, now: datetime
) -> int:
    """Returns leased items to the head of their pool, or marks them dead after so many attempts."""
    values = {**_held(pool, ids, token), "most_attempts": most_attempts, "at": to_iso(now)}
    [given] = await db.batch([Step(NACK, values)])
    return given


async def give_back_items(db: Database, pool: PoolKey, ids: Sequence[int], token: str, now: datetime) -> int:
    """Returns leased items that the consumer did not look at; this was no attempt."""
    [given] = await db.batch([Step(GIVE_BACK, {**_held(pool, ids, token), "at": to_iso(now)})])
    return given


async def extend_items(db: Database, pool: PoolKey, ids: Sequence[int], token: str, until: datetime) -> int:
    [extended] = await db.batch([Step(EXTEND, {**_held(pool, ids, token), "until": to_iso(until)})])
    return extended


def _held(pool: PoolKey, ids: Sequence[int], token: str) -> dict[str, int | str]:
    return {**pool.values, "ids": as_list(list(ids)), "lease_token": token}


async def expire_items(db: Database, pool: PoolKey, most_attempts: int, now: datetime) -> int:
    """Takes back items of expired leases, as `nack_items` does."""
    at = to_iso(now)
    values = {**pool.values, "most_attempts": most_attempts, "now": at, "at": at}
    [expired] = await db.batch([Step(EXPIRE, values)])
    return expired


async def requeue_items(
    db: Database, pool: PoolKey, state: PoolItemState, now: datetime, ids: Sequence[int] | None = None
) -> int:
    """Makes used or dead items available again: all of that state, or those in `ids`."""
    values = {**pool.values, "state": state, "at": to_iso(now)}
    step = Step(REQUEUE, values) if ids is None else Step(REQUEUE_SOME, values | {"ids": as_list(list(ids))})
    [requeued] = await db.batch([step])
    return requeued


async def count_items(db: Database, pool: PoolKey) -> PoolCounts:
    rows = await db.query(COUNT, pool.values)
    return PoolCounts(**{PoolItemState(row["status"]).name.lower(): row["items"] for row in rows})


async def items_in_state(db: Database, pool: PoolKey, state: PoolItemState, most: int) -> list[PoolItemDetails]:
    """Items of one state, the last changed first."""
    rows = await db.query(LISTED, {**pool.values, "state": state, "most": most})
    return [PoolItemDetails(**{**row, "changed_at": from_iso(row["changed_at"])}) for row in rows]
