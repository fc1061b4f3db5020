"""The guarantees of pools on each of the four databases: an item is handed out once and always accounted for."""

import asyncio
from datetime import timedelta

import pytest

from feedmill.errors import GroupExists, UnknownGroup
from feedmill.model.pool import PoolCounts, PoolItemState, PoolKey, PoolKind, PoolOptions, PoolRule
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.pools.gather_entries import (
    add_stored_entries,
    candidates_after,
    labelled_candidates_after,
    steps_to_add_new_entries,
)
from feedmill.store.pools.gather_progress import advance_gathered, gathered_up_to
from feedmill.store.pools.groups import add_group, all_groups, drop_group, group_of_name, save_group
from feedmill.store.pools.items import (
    ack_items,
    claim_items,
    count_items,
    expire_items,
    extend_items,
    give_back_items,
    nack_items,
    queued_and_edited,
    requeue_items,
    settle_items,
    undo_queueing,
)
from feedmill.store.pools.lost_items import held_or_queued_before, release_items
from feedmill.store.schema import users
from feedmill.store.users.users import add_user
from tests.pools.pool_rows import LEASE, MINUTE, NOW, SECOND, add_entries, add_pool, items_of, label, revise

TITLES = PoolKind.TITLES


def labelled_by(user: str) -> PoolRule:
    return PoolRule(labels=("best",), labels_of=user)


async def take(db: Database, group_id: int, most: int, to: PoolItemState, token: str = "t1") -> list[int]:
    until = NOW + MINUTE if to is PoolItemState.LEASED else None
    return [item.id for item in await claim_items(db, PoolKey(group_id, TITLES), most, to, token, NOW, until)]


async def test_items_come_newest_batch_first_and_in_order_within_it(any_db: Database) -> None:
    group = await add_pool(any_db, ["b1", "b2"])
    older = await add_entries(any_db, ["a1", "a2"], NOW - timedelta(hours=1))
    newer = await add_entries(any_db, ["c1", "c2"], NOW + timedelta(hours=1))
    await add_stored_entries(any_db, {(group.id, TITLES): [*older, *newer]}, NOW)

    items = await claim_items(any_db, PoolKey(group.id, TITLES), 5, PoolItemState.USED, "t1", NOW)

    assert [item.title for item in items] == ["c1", "c2", "b1", "b2", "a1"]
    assert {item["batch_id"] for item in await items_of(any_db)} == {20260218073000, 20260218083000, 20260218093000}


async def test_concurrent_claims_never_get_the_same_item(any_db: Database) -> None:
    group = await add_pool(any_db, [f"e{number}" for number in range(60)])

    taken = await asyncio.gather(*(take(any_db, group.id, 10, PoolItemState.USED, f"t{who}") for who in range(8)))

    together = [id for some in taken for id in some]
    assert len(together) == len(set(together))
    counts = await count_items(any_db, PoolKey(group.id, TITLES))
    assert (counts.used, counts.total) == (len(together), 60)


async def test_a_reservation_that_was_never_published_can_be_undone(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b", "c"])
    await take(any_db, group.id, 2, PoolItemState.QUEUED, "filler/1")

    assert await undo_queueing(any_db, "filler/1", NOW) == 2

    assert await count_items(any_db, PoolKey(group.id, TITLES)) == PoolCounts(available=3)
    assert {item["attempts"] for item in await items_of(any_db)} == {0}


async def test_only_queued_items_are_settled(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b", "c"])
    queued = await take(any_db, group.id, 2, PoolItemState.QUEUED)

    assert await settle_items(any_db, [*queued, 999], "consumer", NOW) == 2
    assert await settle_items(any_db, queued, "consumer", NOW) == 0

    assert await count_items(any_db, PoolKey(group.id, TITLES)) == PoolCounts(available=1, used=2)
    assert [item["taken_by"] for item in await items_of(any_db)] == ["consumer", "consumer", None]


async def test_items_edited_since_they_were_queued_are_reported(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b"])
    queued = await take(any_db, group.id, 2, PoolItemState.QUEUED)
    entry_of = {item["id"]: item["entry_id"] for item in await items_of(any_db)}
    await revise(any_db, entry_of[queued[1]], "changed", NOW + SECOND)  # type: ignore[arg-type]

    assert await queued_and_edited(any_db, [*queued, 999]) == {queued[0]: False, queued[1]: True}


async def test_a_claim_hands_out_the_current_text(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b"])
    [first, _] = await items_of(any_db)
    await revise(any_db, first["entry_id"], "a, corrected", NOW - MINUTE)  # type: ignore[arg-type]

    items = await claim_items(any_db, PoolKey(group.id, TITLES), 2, PoolItemState.USED, "t1", NOW)

    assert [item.title for item in items] == ["a, corrected", "b"]


async def test_released_items_go_to_the_head(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b", "c"])
    queued = await take(any_db, group.id, 3, PoolItemState.QUEUED)
    await release_items(any_db, queued[2:], NOW)
    newer = await add_entries(any_db, ["newer"], NOW + timedelta(days=1))
    await add_stored_entries(any_db, {(group.id, TITLES): newer}, NOW)

    items = await claim_items(any_db, PoolKey(group.id, TITLES), 9, PoolItemState.USED, "t2", NOW)

    assert [item.title for item in items] == ["c", "newer"]


async def test_a_lease_is_settled_only_by_its_token(any_db: Database) -> None:
    pool = PoolKey((await add_pool(any_db, ["a", "b"], LEASE)).id, TITLES)
    ids = await take(any_db, pool.group_id, 2, PoolItemState.LEASED, "mine")

    assert await ack_items(any_db, pool, ids, "not mine", NOW) == 0
    assert await extend_items(any_db, pool, ids, "not mine", NOW) == 0
    assert await nack_items(any_db, pool, ids, "not mine", 5, NOW) == 0
    assert await ack_items(any_db, pool, ids[:1], "mine", NOW) == 1

    assert await count_items(any_db, pool) == PoolCounts(leased=1, used=1)


async def test_a_token_settles_nothing_in_another_pool(any_db: Database) -> None:
    mine, other = [await add_pool(any_db, [name], LEASE, name) for name in ("mine", "other")]
    ids = await take(any_db, mine.id, 1, PoolItemState.LEASED, "token")

    for pool in (PoolKey(other.id, TITLES), PoolKey(mine.id, PoolKind.CONTENTS)):
        assert await ack_items(any_db, pool, ids, "token", NOW) == 0
        assert await nack_items(any_db, pool, ids, "token", 5, NOW) == 0
        assert await extend_items(any_db, pool, ids, "token", NOW + MINUTE) == 0
        assert await give_back_items(any_db, pool, ids, "token", NOW) == 0

    assert await count_items(any_db, PoolKey(mine.id, TITLES)) == PoolCounts(leased=1)


async def test_an_expired_lease_returns_to_the_head_and_is_dead_after_its_attempts(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b"], LEASE)
    for attempt in range(2):
        assert len(await take(any_db, group.id, 1, PoolItemState.LEASED, f"t{attempt}")) == 1
        assert await expire_items(any_db, PoolKey(group.id, TITLES), 2, NOW + 59 * SECOND) == 0
        assert await expire_items(any_db, PoolKey(group.id, TITLES), 2, NOW + 60 * SECOND) == 1

    assert await count_items(any_db, PoolKey(group.id, TITLES)) == PoolCounts(available=1, dead=1)
    [first, second] = await items_of(any_db)
    assert (first["status"], first["attempts"], second["attempts"]) == (PoolItemState.DEAD, 2, 0)


async def test_an_extended_lease_lasts(any_db: Database) -> None:
    pool = PoolKey((await add_pool(any_db, ["a"], LEASE)).id, TITLES)
    ids = await take(any_db, pool.group_id, 1, PoolItemState.LEASED, "mine")

    assert await extend_items(any_db, pool, ids, "mine", NOW + 10 * MINUTE) == 1

    assert await expire_items(any_db, pool, 5, NOW + 9 * MINUTE) == 0


async def test_dead_and_used_items_are_requeued_on_command(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b", "c"])
    used = await take(any_db, group.id, 3, PoolItemState.USED)

    assert await requeue_items(any_db, PoolKey(group.id, TITLES), PoolItemState.USED, NOW, used[:1]) == 1
    assert await requeue_items(any_db, PoolKey(group.id, TITLES), PoolItemState.DEAD, NOW) == 0
    assert await requeue_items(any_db, PoolKey(group.id, TITLES), PoolItemState.USED, NOW) == 2

    assert await count_items(any_db, PoolKey(group.id, TITLES)) == PoolCounts(available=3)


async def test_items_queued_long_ago_are_reported(any_db: Database) -> None:
    group = await add_pool(any_db, ["a", "b"])
    [queued] = await take(any_db, group.id, 1, PoolItemState.QUEUED, "filler/1")

    [lost] = await held_or_queued_before(any_db, PoolKey(group.id, TITLES), NOW + SECOND)

    assert (lost.id, lost.queued_at, lost.queued_by) == (queued, NOW, "filler/1")
    assert await held_or_queued_before(any_db, PoolKey(group.id, TITLES), NOW) == []


async def test_entries_join_by_guid_and_joining_again_changes_nothing(any_db: Database) -> None:
    group = await add_group(any_db, "news", PoolRule(), PoolOptions(), PoolOptions(), NOW)
    await add_entries(any_db, ["a", "b", "汉字"])
    [candidate, *_] = await candidates_after(any_db, 0)
    guids = {(group.id, TITLES): ["a", "汉字"], (group.id + 1, TITLES): ["b"]}

    for _ in range(2):
        await any_db.batch(steps_to_add_new_entries(candidate.feed_id, guids, NOW))

    assert await count_items(any_db, PoolKey(group.id, TITLES)) == PoolCounts(available=2)
    assert len(await items_of(any_db)) == 2


async def test_entries_labelled_by_the_named_account_are_found_until_they_are_in_the_pool(any_db: Database) -> None:
    alice, bob = [await add_user(any_db, name, None, False, NOW) for name in ("alice", "bob")]
    group = await add_group(any_db, "news", labelled_by("alice"), PoolOptions(), PoolOptions(), NOW)
    first, second, third = await add_entries(any_db, ["a", "b", "c"])
    await label(any_db, alice.id, "best", [second])
    await label(any_db, alice.id, "other", [third])
    await label(any_db, bob.id, "best", [first])

    assert [entry.id for entry in await labelled_candidates_after(any_db, group.id, ["best", "x"], 0)] == [second]
    await add_stored_entries(any_db, {(group.id, TITLES): [second]}, NOW)
    assert await labelled_candidates_after(any_db, group.id, ["best"], 0) == []


async def test_a_group_whose_label_account_was_deleted_matches_nothing_even_if_the_id_is_reused(
    any_db: Database,
) -> None:
    alice = await add_user(any_db, "alice", None, False, NOW)
    group = await add_group(any_db, "news", labelled_by("alice"), PoolOptions(), PoolOptions(), NOW)
    [entry] = await add_entries(any_db, ["a"])

    await any_db.batch([Step(users.delete().where(users.c.id == alice.id))])
    # As after a restore, when the next id follows the highest one that exists.
    await any_db.batch([Step(users.insert().values(id=alice.id, name="bob", created_at=to_iso(NOW)).inline())])
    await label(any_db, alice.id, "best", [entry])

    assert (await group_of_name(any_db, "news")).rule == PoolRule(labels=("best",))
    assert await labelled_candidates_after(any_db, group.id, ["best"], 0) == []


async def test_groups_are_created_changed_and_deleted(any_db: Database) -> None:
    await add_user(any_db, "alice", None, False, NOW)
    rule = PoolRule((1, 2), ("News/Tech",), ("best",), ("rust",), ("ad",), "zh", 200, NOW, "alice")
    group = await add_group(any_db, "新闻", rule, PoolOptions(), LEASE, NOW)
    other = await add_pool(any_db, ["a"], name="other")

    assert await group_of_name(any_db, "新闻") == group
    assert (group.rule, group.titles, group.contents) == (rule, PoolOptions(), LEASE)
    with pytest.raises(GroupExists):
        await add_group(any_db, "新闻", PoolRule(), LEASE, LEASE, NOW)
    await drop_group(any_db, other, NOW)
    with pytest.raises(UnknownGroup):
        await group_of_name(any_db, "other")

    assert await all_groups(any_db) == [group]
    assert await items_of(any_db) == []


async def test_a_new_or_changed_group_rescans_all_entries(any_db: Database) -> None:
    group = await add_group(any_db, "news", PoolRule(), LEASE, LEASE, NOW)
    assert await gathered_up_to(any_db) == 0
    assert await advance_gathered(any_db, 0, 70)

    await save_group(any_db, group, NOW)

    assert await gathered_up_to(any_db) == 0
    assert not await advance_gathered(any_db, 70, 80)
