"""A merge of feeds with many subscribers moves them in batches: one that is killed goes on when it is repeated."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.sql import Executable

from feedmill.library.entries.marks import mark_all_read
from feedmill.model.entry_marks import MarkAllRead
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list
from feedmill.store.entries import deferred_entries as deferring
from feedmill.store.feeds import merge_feeds as merging
from feedmill.store.feeds import merge_statements as sql
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.schema import (
    deferred_entries,
    entries,
    folder_subscriptions,
    folders,
    states,
    subscriptions,
    unread,
    unread_lists,
    users,
)
from tests.databases import emptied
from tests.flows.conftest import open_environment
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item
from tests.store.feeds.test_merge_feeds import ALL, AT, PICTURE, Merged
from tests.store.library_rows import ALICE, OTHERS, add_library, sort_at, subscription_id

ALL_AT_ONCE = NEVER = 10**9
MORE_READERS = {"Dora": 21, "Emil": 22, "Finn": 23}
KINDS = ["sqlite", "postgresql", "mariadb", "d1"]


class Killed(BaseException):
    """The process is gone."""


@dataclass
class MortalDatabase:
    """Its user is killed right before a batch, after so many of them."""

    db: Database
    batches: int

    @property
    def dialect_name(self) -> str:
        return self.db.dialect_name

    async def query(self, *args: Any) -> list[Row]:
        return await self.db.query(*args)

    async def batch(self, steps: list[Step]) -> list[int]:
        if self.batches == 0:
            raise Killed
        self.batches -= 1
        return await self.db.batch(steps)


async def _prepare(env: RefreshEnvironment, monkeypatch: pytest.MonkeyPatch) -> Merged:
    """Dora, Emil and Finn read the source too. Both are popular: not all have the unread rows of their last entries.

    Emil has read all. The source was last fetched before the last entry of the target came.
    """
    merged = Merged(env)
    monkeypatch.setattr(deferring, "POPULAR_ABOVE", NEVER)
    await merged.prepare()
    for name, list_id in MORE_READERS.items():
        user = await env.user(name, list_id)
        await env.put(unread_lists, id=list_id, user_id=user, created_at=AT)
        subscription = await env.subscribe(user, merged.source)
        await env.put(unread, list_id=list_id, sort_at=AT, entry_id=merged.old_same, subscription_id=subscription)
        folder = await env.put(folders, user_id=user, name="f")
        await env.put(folder_subscriptions, folder_id=folder, subscription_id=subscription)
        if name == "Dora":
            await merged.state(user, merged.old_same, starred_at=AT)
    monkeypatch.setattr(deferring, "POPULAR_ABOVE", 0)
    await env.later(HOUR, merged.source, answer(item("late"), item("same", PICTURE), item("old")), path="/old")
    await env.later(HOUR, merged.target, answer(item("before"), item("same", PICTURE), item("new")), path="/new")
    await env.later(HOUR, merged.target, answer(item("since"), item("same", PICTURE), item("before")), path="/new")
    [emil] = await env.rows(users, name="Emil")
    await mark_all_read(env.db, emil["id"], MarkAllRead(), env.now)
    return merged


async def _merge(db: Any, merged: Merged, move_up_to: int | None) -> None:
    source, target = merged.source, merged.target
    seen_until = merged.env.now - HOUR
    await merge_feeds(db, Merge(source.id, source.url, target.id, target.url, seen_until, move_up_to), NOW + DAY)


async def _library(merged: Merged) -> dict[str, list[tuple[Any, ...]]]:
    """What the users have, with names in place of ids."""
    is_target = (subscriptions.c.feed_id == merged.target.id).label("is_target")
    of_target = (entries.c.feed_id == merged.target.id).label("of_target")
    mine = select(users.c.name, is_target).join(subscriptions, subscriptions.c.user_id == users.c.id)
    selected = {
        "counts": mine.add_columns(subscriptions.c.unread_count),
        "unread": mine.add_columns(entries.c.title, of_target)
        .join(unread, unread.c.subscription_id == subscriptions.c.id)
        .join(entries, entries.c.id == unread.c.entry_id),
        "folders": mine.join(folder_subscriptions, folder_subscriptions.c.subscription_id == subscriptions.c.id),
        "states": select(users.c.name, entries.c.title, of_target, states.c.starred_at)
        .join(states, states.c.user_id == users.c.id)
        .join(entries, entries.c.id == states.c.entry_id),
        "deferred": select(deferred_entries.c.entry_id),
    }
    db = merged.env.db
    return {name: sorted(tuple(row.values()) for row in await db.query(rows)) for name, rows in selected.items()}


@pytest.mark.parametrize("move_up_to", [None, ALL])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_merge_that_is_killed_again_and_again_ends_as_one_that_is_not(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    kind: str,
    move_up_to: int | None,
) -> None:
    async with emptied(request, kind, tmp_path) as db, open_environment(db, tmp_path) as env:
        monkeypatch.setattr(merging, "MOST_AT_ONCE", ALL_AT_ONCE)
        merged = await _prepare(env, monkeypatch)
        await _merge(db, merged, move_up_to)
        usual = await _library(merged)

    (tmp_path / "killed").mkdir()
    monkeypatch.setattr(merging, "MOST_AT_ONCE", 1)
    kills = 0
    async with emptied(request, kind, tmp_path / "killed") as db, open_environment(db, tmp_path / "killed") as env:
        merged = await _prepare(env, monkeypatch)
        while True:
            try:
                await _merge(MortalDatabase(db, 1), merged, move_up_to)
                break
            except Killed:
                kills += 1

        assert await _library(merged) == usual
    assert kills >= len(MORE_READERS)
    assert usual["deferred"] == []


NAMES = (
    "COPY_UNREAD",
    "FORGET_UNREAD",
    "FORGET_UNREAD_OF_MOVING",
    "KEEP_UNREAD",
    "MOVE_UNREAD",
    "READ_IN_TARGET",
    "COUNT_UNREAD",
    "COUNT_UNREAD_OF_MOVED",
)
PARAMS = {
    "source": 2,
    "target": 3,
    "feed": 2,
    "moving_ids": as_list([subscription_id(user, 2) for user in (ALICE, *OTHERS)]),
    "moving_users": as_list([ALICE, *OTHERS]),
    "ids": as_list([1, 2, 3]),
    "lists": as_list([ALICE, *OTHERS]),
    "sort_at": sort_at(3),
    "new": 3,
}


async def test_no_statement_of_a_merge_reads_all_unread_rows(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    async with emptied(request, "postgresql", tmp_path) as db:
        await db.exec("TRUNCATE feeds, entries, users, subscriptions, unread_lists, unread CASCADE")
        await add_library(db)
        await db.exec("ANALYZE")

        plans = {name: await _index_conditions(db, getattr(sql, name)) for name in NAMES}

    assert [name for name, reads in plans.items() if not all("list_id" in read for read in reads)] == []


async def _index_conditions(db: Any, statement: Executable) -> list[str]:
    """How each part of the plan that reads unread rows finds them."""
    compiled = db._compile(statement)
    [row] = await db._fetch(f"EXPLAIN (FORMAT JSON) {compiled.sql}", compiled.values(PARAMS))
    nodes = _nodes(json.loads(row["QUERY PLAN"])[0]["Plan"])
    reads = [node for node in nodes if node.get("Relation Name") == "unread" and node["Node Type"] != "ModifyTable"]
    assert reads
    return [str(node.get("Index Cond", "")) for node in reads]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)
