"""Texts of other programs on each of the four databases: stored once, in their order, handed out like entries."""

import asyncio

import pytest

from feedmill.errors import UnknownGroup
from feedmill.model.pool import PoolCounts, PoolGroup, PoolItemState, PoolKey, PoolKind, PoolOptions, PoolRule, PoolText
from feedmill.store.database import Database
from feedmill.store.pools import texts as store
from feedmill.store.pools.gather_entries import add_stored_entries
from feedmill.store.pools.groups import add_group, drop_group
from feedmill.store.pools.items import claim_items, count_items, items_in_state, queued_and_edited
from feedmill.store.pools.lost_items import held_or_queued_before
from feedmill.store.pools.texts import add_texts, has_more_available, newest_text
from feedmill.store.schema import pool_texts
from tests.pools.pool_rows import MINUTE, NOW, SECOND, add_entries

TITLES, CONTENTS = PoolKind.TITLES, PoolKind.CONTENTS


@pytest.fixture
async def group(any_db: Database) -> PoolGroup:
    return await add_group(any_db, "mine", PoolRule(no_entries=True), PoolOptions(), PoolOptions(), NOW)


def texts(*names: str, batch_id: int = 1) -> list[PoolText]:
    return [PoolText(name, f"text {name}", batch_id) for name in names]


async def handed_out(db: Database, pool: PoolKey) -> list[str | None]:
    return [item.sent_text for item in await claim_items(db, pool, 99, PoolItemState.USED, "t", NOW)]


async def test_texts_come_newest_batch_first_and_in_their_order_within_it(any_db: Database, group: PoolGroup) -> None:
    pool = PoolKey(group.id, TITLES)
    await add_texts(any_db, pool, texts("b2", "b1", batch_id=2), "alice/1", NOW)
    await add_texts(any_db, pool, [*texts("汉字", batch_id=3), *texts("a", batch_id=1)], "alice/2", NOW)
    await add_texts(any_db, pool, texts("b0", batch_id=2), "alice/3", NOW)

    assert await handed_out(any_db, pool) == ["text 汉字", "text b2", "text b1", "text b0", "text a"]


async def test_a_text_whose_id_is_known_is_kept_as_it_is_also_when_it_was_used(
    any_db: Database, group: PoolGroup
) -> None:
    pool = PoolKey(group.id, TITLES)
    assert await add_texts(any_db, pool, texts("a", "b"), "alice/1", NOW) == 2
    await claim_items(any_db, pool, 1, PoolItemState.USED, "earlier", NOW)

    changed = [PoolText("a", "changed", 9), PoolText("b", "changed", 9), *texts("c")]
    assert await add_texts(any_db, pool, changed, "bob/1", NOW) == 1

    assert await count_items(any_db, pool) == PoolCounts(used=1, available=2)
    assert await handed_out(any_db, pool) == ["text b", "text c"]


async def test_the_same_id_is_another_text_in_another_pool(any_db: Database, group: PoolGroup) -> None:
    other = await add_group(any_db, "other", PoolRule(), PoolOptions(), PoolOptions(), NOW)
    pools = [PoolKey(group.id, TITLES), PoolKey(group.id, CONTENTS), PoolKey(other.id, TITLES)]

    added = [await add_texts(any_db, pool, texts("a"), "alice/1", NOW) for pool in pools]

    assert added == [1, 1, 1]


async def test_senders_at_once_store_each_text_once(any_db: Database, group: PoolGroup) -> None:
    pool = PoolKey(group.id, TITLES)
    names = [f"t{number}" for number in range(40)]

    added = await asyncio.gather(
        *(add_texts(any_db, pool, texts(*names[start:], *names[:start]), f"s/{start}", NOW) for start in (0, 10, 20))
    )

    assert sum(added) == 40
    assert await count_items(any_db, pool) == PoolCounts(available=40)


async def test_many_texts_are_stored_in_chunks_and_keep_their_order(
    any_db: Database, group: PoolGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = PoolKey(group.id, TITLES)
    monkeypatch.setattr(store, "CHUNK_ROWS", 7)
    monkeypatch.setattr(store, "CHUNK_CHARACTERS", 50)
    names = [f"{number:02}" for number in range(30)]

    assert await add_texts(any_db, pool, texts(*names), "alice/1", NOW) == 30

    assert await handed_out(any_db, pool) == [f"text {name}" for name in names]


async def test_texts_and_entries_share_a_pool(any_db: Database) -> None:
    group = await add_group(any_db, "news", PoolRule(), PoolOptions(), PoolOptions(), NOW)
    pool = PoolKey(group.id, TITLES)
    await add_stored_entries(any_db, {(group.id, TITLES): await add_entries(any_db, ["an entry"])}, NOW)
    await add_texts(any_db, pool, texts("new", batch_id=20260218083001), "alice/1", NOW)
    await add_texts(any_db, pool, texts("old", batch_id=20260218082959), "alice/2", NOW)

    items = await claim_items(any_db, pool, 9, PoolItemState.QUEUED, "filler/1", NOW)

    assert [item.sent_text or item.title for item in items] == ["text new", "an entry", "text old"]
    assert set((await queued_and_edited(any_db, [item.id for item in items])).values()) == {False}


async def test_items_of_texts_are_listed_with_the_sender_s_id(any_db: Database, group: PoolGroup) -> None:
    pool = PoolKey(group.id, TITLES)
    await add_texts(any_db, pool, texts("a", "b"), "alice/1", NOW)
    await claim_items(any_db, pool, 1, PoolItemState.QUEUED, "filler/1", NOW)

    [available] = await items_in_state(any_db, pool, PoolItemState.AVAILABLE, 9)
    [queued] = await held_or_queued_before(any_db, pool, NOW + SECOND)

    assert (available.external_id, available.entry_id) == ("b", None)
    assert (queued.external_id, queued.entry_id) == ("a", None)


async def test_the_sender_of_the_newest_text_is_known(any_db: Database, group: PoolGroup) -> None:
    pool = PoolKey(group.id, TITLES)
    assert await newest_text(any_db, pool) is None

    await add_texts(any_db, pool, texts("a"), "alice/1", NOW)
    await add_texts(any_db, pool, texts("a", "b"), "bob/1", NOW + MINUTE)

    newest = await newest_text(any_db, pool)
    assert newest is not None
    assert (newest.source, newest.added_at) == ("bob/1", NOW + MINUTE)


async def test_whether_a_pool_is_full_is_known(any_db: Database, group: PoolGroup) -> None:
    pool = PoolKey(group.id, TITLES)
    await add_texts(any_db, pool, texts("a", "b", "c"), "alice/1", NOW)

    assert [await has_more_available(any_db, pool, most) for most in (2, 3)] == [True, False]


async def test_a_deleted_group_leaves_no_texts_and_takes_none(any_db: Database, group: PoolGroup) -> None:
    pool = PoolKey(group.id, TITLES)
    await add_texts(any_db, pool, texts("a", "b"), "alice/1", NOW)

    await drop_group(any_db, group, NOW)

    assert await any_db.query(pool_texts.select()) == []
    with pytest.raises(UnknownGroup):
        await add_texts(any_db, pool, texts("c"), "alice/2", NOW)
