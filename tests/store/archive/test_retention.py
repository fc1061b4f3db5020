"""What a purge of entries costs when feeds have many subscribers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.sql import Executable

from feedmill.model.timestamps import to_iso
from feedmill.store.archive import retention
from feedmill.store.archive.retention import drop_expired_entries
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list
from feedmill.store.schema import subscriptions, unread
from tests.databases import emptied
from tests.flows.refresh_environment import DAY, NOW
from tests.store import library_rows as rows
from tests.store.library_rows import ALICE, sort_at

FEED, ENTRIES = 2, range(1, 7)
READERS = (ALICE, 2, 3)
EXPIRED = {"before": to_iso(NOW), "at": to_iso(NOW), "feeds": as_list([FEED]), "ids": as_list(list(ENTRIES))}


@dataclass
class CountingDatabase:
    """Counts batches."""

    db: Database
    batches: int = 0

    @property
    def dialect_name(self) -> str:
        return self.db.dialect_name

    async def query(self, *args: Any) -> list[Row]:
        return await self.db.query(*args)

    async def batch(self, steps: list[Step]) -> list[int]:
        self.batches += 1
        return await self.db.batch(steps)


@pytest.fixture
async def library(any_db: Database) -> Database:
    """Three subscribe to a feed whose entries have left it. Alice has them unread, the others have read them."""
    await any_db.batch(
        [
            Step(
                rows.ADD_FEED, {"id": FEED, "url": "https://example.org/", "host": "example.org", "created_at": rows.AT}
            ),
            Step(rows.ADD_ENTRY, [_entry(number) for number in ENTRIES]),
            *[step for user in READERS for step in _steps_to_subscribe(user)],
            Step(rows.ADD_UNREAD, [_unread(number) for number in ENTRIES]),
        ]
    )
    return any_db


def _entry(number: int) -> dict[str, Any]:
    same = {"refresh_token": "t", "digest": "d", "first_seen_at": rows.AT, "last_seen_at": rows.AT, "summary": ""}
    return same | {"id": number, "feed_id": FEED, "guid": str(number), "sort_at": sort_at(number)}


def _unread(number: int) -> dict[str, Any]:
    return {"list_id": ALICE, "sort_at": sort_at(number), "entry_id": number, "subscription_id": ALICE}


def _steps_to_subscribe(user: int) -> list[Step]:
    count = len(ENTRIES) if user == ALICE else 0
    mine = {"id": user, "user_id": user, "feed_id": FEED, "unread_count": count, "created_at": rows.AT}
    return [
        Step(rows.ADD_USER, {"id": user, "name": str(user), "unread_list_id": user, "created_at": rows.AT}),
        Step(rows.ADD_LIST, {"id": user, "user_id": user, "created_at": rows.AT}),
        Step(rows.ADD_SUBSCRIPTION, mine),
    ]


async def test_only_subscriptions_with_unread_rows_are_updated(library: Database) -> None:
    [updated] = await library.batch([Step(retention.UNCOUNT_UNREAD, EXPIRED)])

    assert updated == 1


@pytest.mark.parametrize("most", [1, 7, 1_000_000])
async def test_a_feed_with_many_subscribers_is_purged_a_few_entries_at_a_time(
    library: Database, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(retention, "MOST_READER_ROWS", most)
    counted: Any = CountingDatabase(library)

    assert await drop_expired_entries(counted, DAY, NOW + 99 * DAY) == len(ENTRIES)

    assert counted.batches == {1: 6, 7: 3, 1_000_000: 1}[most]
    assert [row["unread_count"] for row in await library.query(subscriptions.select())] == [0, 0, 0]
    assert await library.query(unread.select()) == []


async def test_postgresql_finds_unread_rows_by_list(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    async with emptied(request, "postgresql", tmp_path) as db:
        await db.exec("TRUNCATE feeds, entries, users, subscriptions, unread_lists, unread CASCADE")
        await rows.add_library(db)
        await db.exec("ANALYZE")

        statements = (retention.UNCOUNT_UNREAD, retention.FORGET_UNREAD)
        found = [await _index_conditions(db, statement, EXPIRED) for statement in statements]

    assert [read for reads in found for read in reads if "list_id" not in read] == []


async def _index_conditions(db: Any, statement: Executable, params: dict[str, str]) -> list[str]:
    """How each part of the plan that reads unread rows finds them."""
    compiled = db._compile(statement)
    [row] = await db._fetch(f"EXPLAIN (FORMAT JSON) {compiled.sql}", compiled.values(params))
    nodes = _nodes(json.loads(row["QUERY PLAN"])[0]["Plan"])
    reads = [node for node in nodes if node.get("Relation Name") == "unread" and node["Node Type"] != "ModifyTable"]
    assert reads
    return [str(node.get("Index Cond", "")) for node in reads]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)
