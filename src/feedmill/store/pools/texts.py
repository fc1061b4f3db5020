"""Texts that other programs put into pools: each is stored once by the sender's id, together with its item."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, func, select

from feedmill.errors import ConstraintViolated, UnknownGroup
from feedmill.i18n.messages import Message
from feedmill.model.pool import NewestPoolText, PoolItemState, PoolKey, PoolText
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, insert_new, one_of
from feedmill.store.pools.gather_entries import LOCK_GROUPS
from feedmill.store.schema import pool_items, pool_texts

# What one atomic batch stores.
CHUNK_ROWS = 500
CHUNK_CHARACTERS = 1_000_000

_texts = pool_texts.c
_of_pool = and_(_texts.group_id == bindparam("group"), _texts.kind == bindparam("pool_kind"))
ADD_TEXTS = insert_new(pool_texts, "group_id", "kind", "external_id", "batch_id", "source", "text", "added_at")
# By the sender's ids, so that an item that is missing is added, and one that exists is kept.
ADD_ITEMS = InsertNew(pool_items).from_select(
    ["group_id", "kind", "text_id", "batch_id", "changed_at"],
    select(_texts.group_id, _texts.kind, _texts.id, _texts.batch_id, bindparam("at"))
    .where(_of_pool, one_of(_texts.external_id, "external_ids"))
    .order_by(_texts.id),
)
COUNT_ADDED = select(func.count().label("texts")).where(
    _of_pool, one_of(_texts.external_id, "external_ids"), _texts.source == bindparam("by_source")
)
KNOWN = select(_texts.external_id).where(_of_pool, one_of(_texts.external_id, "external_ids"))
NEWEST = select(_texts.source, _texts.added_at).where(_of_pool).order_by(_texts.id.desc()).limit(1)
FIRST_BEYOND = (
    select(pool_items.c.id)
    .where(
        pool_items.c.group_id == bindparam("group"),
        pool_items.c.kind == bindparam("pool_kind"),
        pool_items.c.status == PoolItemState.AVAILABLE,
    )
    .order_by(pool_items.c.batch_id.desc(), pool_items.c.id)
    .limit(1)
    .offset(bindparam("most"))
)


async def add_texts(db: Database, pool: PoolKey, texts: Sequence[PoolText], source: str, now: datetime) -> int:
    """Adds texts with their items, in their order; how many were new. `source` is unique to this call.

    Atomic in chunks: after a crash, adding the same texts again adds the rest. Raises `UnknownGroup`.
    """
    return sum([await _add_chunk(db, pool, chunk, source, now) for chunk in _chunks(texts)])


async def known_external_ids(db: Database, pool: PoolKey, external_ids: Sequence[str]) -> set[str]:
    """Those of these ids of senders whose texts were stored in the pool."""
    rows = await db.query(KNOWN, {**pool.values, "external_ids": as_list(list(external_ids))})
    return {row["external_id"] for row in rows}


async def has_more_available(db: Database, pool: PoolKey, most: int) -> bool:
    """Whether more than `most` items of the pool are available."""
    return bool(await db.query(FIRST_BEYOND, {**pool.values, "most": most}))


async def newest_text(db: Database, pool: PoolKey) -> NewestPoolText | None:
    """The origin of the text that was added last; None if there is none."""
    rows = await db.query(NEWEST, pool.values)
    return NewestPoolText(rows[0]["source"], from_iso(rows[0]["added_at"])) if rows else None


async def _add_chunk(db: Database, pool: PoolKey, texts: Sequence[PoolText], source: str, now: datetime) -> int:
    same = {"group_id": pool.group_id, "kind": pool.kind, "source": source, "added_at": to_iso(now)}
    rows = [same | {"external_id": text.external_id, "batch_id": text.batch_id, "text": text.text} for text in texts]
    sent = {**pool.values, "external_ids": as_list([text.external_id for text in texts])}
    lock = Step(LOCK_GROUPS, {"groups": as_list([pool.group_id])})
    try:
        await db.batch([lock, Step(ADD_TEXTS, rows), Step(ADD_ITEMS, {**sent, "at": to_iso(now)})])
    except ConstraintViolated as error:
        raise UnknownGroup(Message("error.no_such_pool_group", name=str(pool.group_id))) from error
    [row] = await db.query(COUNT_ADDED, {**sent, "by_source": source})
    return int(row["texts"])


def _chunks(texts: Sequence[PoolText]) -> Iterator[list[PoolText]]:
    chunk: list[PoolText] = []
    characters = 0
    for text in texts:
        if chunk and (len(chunk) == CHUNK_ROWS or characters + len(text.text) > CHUNK_CHARACTERS):
            yield chunk
            chunk, characters = [], 0
        chunk.append(text)
        characters += len(text.text)
    if chunk:
        yield chunk
