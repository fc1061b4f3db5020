"""Lists stay fast however long they are: SQLite's and PostgreSQL's own account of how they run each statement."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select, text

from feedmill.store.database import Database
from feedmill.store.listing import ENTRIES_OF_FEED, UNREAD_COUNTS, UNREAD_OF_SUBSCRIPTION, UNREAD_PAGE
from feedmill.store.migrations import DIALECTS
from tests.databases import emptied
from tests.store.library_rows import ALICE, BUSY_FEED, ENTRIES, add_library, sort_at, subscription_id

PAGE = 50
DEEP = ENTRIES // 2
DEEP_PAGE = {"sort_at": sort_at(DEEP), "entry_id": DEEP, "most": PAGE, "list_id": ALICE}
LISTS = {
    "unread of a user": (UNREAD_PAGE, DEEP_PAGE, "unread"),
    "unread of a subscription": (
        UNREAD_OF_SUBSCRIPTION, {**DEEP_PAGE, "subscription_id": subscription_id(ALICE, BUSY_FEED)}, "unread",
    ),
    "entries of a feed": (ENTRIES_OF_FEED, {**DEEP_PAGE, "feed_id": BUSY_FEED}, "entries"),
}  # fmt: skip

Plan = dict[str, Any]


@pytest.fixture
async def sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, "sqlite", tmp_path) as database:
        yield database


@pytest.fixture
async def postgres(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, "postgresql", tmp_path) as database:
        await add_library(database)
        await database.exec("ANALYZE")
        yield database


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("analysed", [False, True])
async def test_sqlite_walks_an_index_and_sorts_nothing(sqlite: Database, listed: str, analysed: bool) -> None:
    statement, params, walked = LISTS[listed]
    if analysed:
        await add_library(sqlite)
        await sqlite.exec("ANALYZE")

    plan = [row["detail"] for row in await sqlite.query(_explain(sqlite, statement, params, "EXPLAIN QUERY PLAN"))]

    [walk] = [line for line in plan if line.startswith(f"SEARCH {walked} ") and "sort_at<?" in line]
    assert "USING" in walk
    assert [line for line in plan if "SCAN" in line or "B-TREE" in line or "MULTI-INDEX" in line] == []


@pytest.mark.parametrize("listed", LISTS)
async def test_postgresql_reads_one_page_of_an_index_and_sorts_nothing(postgres: Database, listed: str) -> None:
    statement, params, walked = LISTS[listed]

    plan = list(_nodes(await _postgres_plan(postgres, statement, params)))

    [walk] = [node for node in plan if "sort_at)::text <=" in node.get("Index Cond", "") or _only_scans(node, walked)]
    assert walk["Scan Direction"] == "Backward"
    assert walk["Actual Rows"] == PAGE
    assert walk.get("Rows Removed by Filter", 0) <= 1
    kinds = {node["Node Type"] for node in plan}
    assert kinds <= {"Limit", "Nested Loop", "Memoize", "Index Scan", "Index Only Scan", "Materialize"}


async def test_unread_counts_are_read_from_subscriptions_alone(sqlite: Database, postgres: Database) -> None:
    plan = await sqlite.query(_explain(sqlite, UNREAD_COUNTS, {"user_id": 7}, "EXPLAIN QUERY PLAN"))
    nodes = list(_nodes(await _postgres_plan(postgres, UNREAD_COUNTS, {"user_id": 7})))

    assert [row["detail"] for row in plan] == [
        "SEARCH subscriptions USING INDEX sqlite_autoindex_subscriptions_1 (user_id=?)"
    ]
    assert {node["Relation Name"] for node in nodes if "Relation Name" in node} == {"subscriptions"}
    assert "Seq Scan" not in {node["Node Type"] for node in nodes}


def _explain(db: Database, statement: Select[Any], params: dict[str, Any], how: str) -> Any:
    """The question how the database runs a statement, with the values written into it."""
    compiled = statement.params(params).compile(
        dialect=DIALECTS[db.dialect_name], compile_kwargs={"literal_binds": True}
    )
    return text(f"{how} {compiled}")


async def _postgres_plan(db: Database, statement: Select[Any], params: dict[str, Any]) -> Plan:
    [row] = await db.query(_explain(db, statement, params, "EXPLAIN (ANALYZE, FORMAT JSON)"))
    plan: Plan = json.loads(row["QUERY PLAN"])[0]["Plan"]
    return plan


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)


def _only_scans(node: Plan, table: str) -> bool:
    return node.get("Relation Name") == table and "sort_at <=" in node.get("Index Cond", "")
