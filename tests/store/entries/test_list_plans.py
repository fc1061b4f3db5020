"""Lists stay fast however long they are: the query plans of SQLite and PostgreSQL for each statement."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select, text

from feedmill.model.entry_lists import EntryOrder, EntryView
from feedmill.store.database import Database
from feedmill.store.dialect import as_list
from feedmill.store.entries.list_pages import LIST_STARTS, ListKind, keys_statement, page_statement
from feedmill.store.filters.raised_entries import MOST_LOOKED_AT, raised_statement
from feedmill.store.migrations import sqlalchemy_dialect
from feedmill.store.subscriptions.read_subscriptions import LISTED
from tests.databases import emptied
from tests.sqlite_template import copy_template
from tests.store.library_rows import (
    ALICE,
    BUSY_FEED,
    ENTRIES,
    add_analysed_library,
    add_library,
    add_raised,
    add_stories,
    sort_at,
    subscription_id,
)

PAGE = 50
DEEP = ENTRIES // 2
FEEDS_OF_A_FOLDER = list(range(1, 101))
DEEP_PAGE = {
    "of_user": ALICE,
    "user_id": ALICE,
    "at": sort_at(DEEP),
    "entry_id": DEEP,
    "subscription_id": subscription_id(ALICE, BUSY_FEED),
    "subscriptions": as_list([subscription_id(ALICE, feed) for feed in FEEDS_OF_A_FOLDER]),
    "oldest": "",
    "until": sort_at(ENTRIES),
}
NEWEST = EntryOrder.NEWEST
FROM_START = {"at": LIST_STARTS[NEWEST].at, "entry_id": LIST_STARTS[NEWEST].entry_id}
WALKS = {
    "unread of a user": (keys_statement(ListKind(EntryView.UNREAD, NEWEST, None, False, PAGE)), "unread"),
    "unread of a subscription": (
        keys_statement(ListKind(EntryView.UNREAD, NEWEST, True, False, PAGE)),
        "unread",
    ),
    "entries of a feed": (keys_statement(ListKind(EntryView.ALL, NEWEST, True, False, PAGE)), "entries"),
}
MERGES = {
    "unread of a folder": (
        keys_statement(ListKind(EntryView.UNREAD, NEWEST, False, False, PAGE)),
        "unread",
        100,
    ),
    "entries of a folder": (
        keys_statement(ListKind(EntryView.ALL, NEWEST, False, False, PAGE)),
        "entries",
        100,
    ),
    "entries of all feeds": (keys_statement(ListKind(EntryView.ALL, NEWEST, None, False, PAGE)), "entries", 1000),
}

Plan = dict[str, Any]


@pytest.fixture
def analysed() -> bool:
    """Whether the database has a large library and planner statistics; tests override it."""
    return False


@pytest.fixture
async def sqlite(request: pytest.FixtureRequest, tmp_path: Path, analysed: bool) -> AsyncIterator[Database]:
    if analysed:
        await copy_template(tmp_path / "feedmill.db", add_analysed_library)
    async with emptied(request, "sqlite", tmp_path) as database:
        yield database


@pytest.fixture
async def postgres(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, "postgresql", tmp_path) as database:
        # Plans depend on how rows lie in the file: where deleted rows were, new ones would lie in any order.
        await database.exec("TRUNCATE feeds, entries, users, subscriptions, unread_lists, unread CASCADE")
        await add_library(database)
        await database.exec("ANALYZE")
        yield database


@pytest.mark.parametrize("listed", WALKS)
@pytest.mark.parametrize("analysed", [False, True])
async def test_sqlite_walks_an_index_and_sorts_nothing(sqlite: Database, listed: str) -> None:
    statement, walked = WALKS[listed]

    plan = await _sqlite_plan(sqlite, statement)

    [walk] = [line for line in plan if line.startswith(f"SEARCH {walked} ") and "sort_at<?" in line]
    assert "USING" in walk
    assert [line for line in plan if "SCAN" in line or "B-TREE" in line or "MULTI-INDEX" in line] == []


@pytest.mark.parametrize("listed", MERGES)
@pytest.mark.parametrize("analysed", [False, True])
async def test_sqlite_merges_along_an_index_of_each_feed(sqlite: Database, listed: str) -> None:
    statement, walked, _ = MERGES[listed]

    plan = await _sqlite_plan(sqlite, statement)

    read = [line for line in plan if f" {walked}" in line]
    assert len(read) == 3
    assert all("COVERING" in line and "sort_at<?" in line for line in read)
    assert [line for line in read if "sort_at>? AND sort_at<?" in line and f" {walked} " in line]
    small = {"SCAN json_each VIRTUAL TABLE INDEX 1:", "SCAN first_times", "SCAN closest"}
    assert {line for line in plan if "SCAN" in line} <= small


@pytest.mark.parametrize("stories_once", [False, True])
@pytest.mark.parametrize("of_one", [None, True, False])
@pytest.mark.parametrize("view", [EntryView.UNREAD, EntryView.ALL])
@pytest.mark.parametrize("analysed", [False, True])
async def test_sqlite_looks_up_the_rows_of_a_page_by_key_in_order(
    sqlite: Database, view: EntryView, of_one: bool | None, stories_once: bool
) -> None:
    plan = await _sqlite_plan(sqlite, page_statement(ListKind(view, NEWEST, of_one, False, PAGE, stories_once)))

    shown = plan[plan.index("SCAN keys") + 1 :]
    # Whether an earlier entry of a story is of one of these feeds.
    listed = {"SCAN json_each VIRTUAL TABLE INDEX 1:"} if stories_once and of_one is False else set()
    assert {line for line in shown if "SCAN" in line} == listed
    assert "SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)" in shown


@pytest.mark.parametrize("listed", WALKS)
async def test_postgresql_reads_one_page_of_an_index_and_sorts_nothing(postgres: Database, listed: str) -> None:
    statement, walked = WALKS[listed]

    plan = list(_nodes(await _postgres_plan(postgres, statement, DEEP_PAGE)))

    [walk] = _reads(plan, walked)
    assert "sort_at" in walk["Index Cond"]
    assert walk["Scan Direction"] == "Backward"
    assert walk["Actual Rows"] == PAGE
    assert walk.get("Rows Removed by Filter", 0) <= 1
    assert "Sort" not in {node["Node Type"] for node in plan}


# PostgreSQL reads a table as small as this one whole, rather than an index a thousand times.
@pytest.mark.parametrize("listed", ["unread of a folder", "entries of a folder"])
async def test_postgresql_merges_along_an_index_of_each_feed(postgres: Database, listed: str) -> None:
    statement, walked, feeds = MERGES[listed]

    plan = list(_nodes(await _postgres_plan(postgres, statement, DEEP_PAGE)))

    reads = _reads(plan, walked)
    assert all("sort_at" in node["Index Cond"] for node in reads)
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in reads) <= feeds + PAGE * PAGE + 2 * PAGE


@pytest.mark.parametrize("of_one", [None, True, False])
@pytest.mark.parametrize("view", [EntryView.UNREAD, EntryView.ALL])
async def test_postgresql_looks_up_the_stories_of_a_page_alone(
    postgres: Database, view: EntryView, of_one: bool | None
) -> None:
    await add_stories(postgres)

    statement = page_statement(ListKind(view, NEWEST, of_one, False, PAGE, True))
    plan = list(_nodes(await _postgres_plan(postgres, statement, DEEP_PAGE)))

    looked_up = _reads(plan, "story_entries")
    assert looked_up
    assert {node["Node Type"] for node in looked_up} <= {"Index Scan", "Index Only Scan"}
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in looked_up) <= 2 * PAGE


@pytest.mark.parametrize("of_one", [None, True, False])
@pytest.mark.parametrize("analysed", [False, True])
async def test_sqlite_finds_raised_entries_along_the_effects_of_the_user(sqlite: Database, of_one: bool | None) -> None:
    plan = await _sqlite_plan(sqlite, raised_statement(ListKind(EntryView.UNREAD, NEWEST, of_one, False, PAGE)))

    limited = {"SCAN raised", "SCAN listed", "SCAN json_each VIRTUAL TABLE INDEX 1:"}
    effects = "SEARCH filter_effects USING PRIMARY KEY (user_id=? AND action=?)"
    assert effects in plan
    assert "SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)" in plan
    assert {line for line in plan if "SCAN" in line} <= limited


@pytest.mark.parametrize("of_one", [None, True, False])
async def test_postgresql_looks_at_a_limited_number_of_raised_entries(postgres: Database, of_one: bool | None) -> None:
    await add_raised(postgres)

    statement = raised_statement(ListKind(EntryView.UNREAD, NEWEST, of_one, False, PAGE))
    plan = list(_nodes(await _postgres_plan(postgres, statement, DEEP_PAGE | FROM_START)))

    [effects] = _reads(plan, "filter_effects")
    assert effects["Node Type"] in ("Index Scan", "Index Only Scan")
    assert effects["Actual Rows"] <= MOST_LOOKED_AT
    for table in ("entries", "unread"):
        [looked_up] = _reads(plan, table)
        assert looked_up["Actual Rows"] * looked_up["Actual Loops"] <= MOST_LOOKED_AT, table
    # Else a plan without the values, which PostgreSQL uses from the sixth time on, applies them to all entries first.
    [of_entries] = _reads(plan, "entries")
    assert "Filter" not in of_entries


async def test_feeds_with_their_unread_counts_are_listed_without_reading_entries(
    sqlite: Database, postgres: Database
) -> None:
    plan = await _sqlite_plan(sqlite, LISTED)
    nodes = list(_nodes(await _postgres_plan(postgres, LISTED, {"user_id": ALICE})))

    assert [line for line in plan if "SCAN" in line] == []
    assert {node["Relation Name"] for node in nodes if "Relation Name" in node} == {"subscriptions", "feeds", "icons"}


async def _sqlite_plan(db: Database, statement: Select[Any]) -> list[str]:
    return [row["detail"] for row in await db.query(_explain(db, statement, DEEP_PAGE, "EXPLAIN QUERY PLAN"))]


def _explain(db: Database, statement: Select[Any], params: dict[str, Any], how: str) -> Any:
    """An EXPLAIN of a statement, with its values written into it."""
    compiled = statement.params(params).compile(
        dialect=sqlalchemy_dialect(db.dialect_name), compile_kwargs={"literal_binds": True}
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


def _reads(plan: list[Plan], table: str) -> list[Plan]:
    """The plan lines that read a table, except the lookup of its last row."""
    return [node for node in plan if node.get("Relation Name") == table and node["Alias"] != "last"]
