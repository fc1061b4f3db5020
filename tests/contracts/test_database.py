"""The contract of databases, on SQLite, PostgreSQL, MariaDB and D1."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import bindparam, func, select, text

from feedmill.errors import ConstraintViolated, StatementRefused
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert, insert_new, looked_up, one_of
from feedmill.store.schema import entries, feeds, instance_state, labels, users
from tests.databases import connect

KEEP = insert(instance_state, "name", "value")
KEEP_NEW = insert_new(instance_state, "name", "value")
READ = select(instance_state.c.name, instance_state.c.value).order_by(instance_state.c.name)
SOME = select(instance_state.c.value).where(one_of(instance_state.c.name, "names")).order_by(instance_state.c.value)
CHANGE = instance_state.update().where(instance_state.c.name == bindparam("key")).values(value=bindparam("new"))
REMOVE = instance_state.delete().where(instance_state.c.name == bindparam("key"))

ADD_FEED = insert(feeds, "url", "host", "interval_seconds", "created_at")
ADD_USER = insert(users, "name", "created_at")
ADD_LABEL = insert(labels, "user_id", "name")
ADD_ENTRY = insert(entries, "feed_id", "guid", "sort_at", "refresh_token", "digest", "first_seen_at", "last_seen_at")
NOW = "2026-01-01T00:00:00.000Z"

AWKWARD = [
    "",
    "'; DROP TABLE instance_state; --",
    "汉字 かな 한글 🎉",
    "e\u0301",
    'a\nb\tc\\d"e',
    "100%s :name ? $1",
    "\u202eabc",
]


def fact(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


async def values_of(db: Database) -> dict[str, str]:
    return {row["name"]: row["value"] for row in await db.query(READ)}


async def test_rows_are_changed_and_deleted_by_a_list_of_ids(any_db: Database) -> None:
    same = {"host": "example.org", "interval_seconds": None, "created_at": NOW}
    await any_db.batch([Step(ADD_FEED, [{"url": url, **same} for url in "abcd"])])
    ids = [row["id"] for row in await any_db.query(select(feeds.c.id).order_by(feeds.c.id))]
    listed, unlisted = one_of(feeds.c.id, "ids"), ~one_of(feeds.c.id, "ids")

    changed = await any_db.batch(
        [
            Step(feeds.update().where(condition).values(host=host), {"ids": as_list(some)})
            for condition, host, some in (
                (listed, "some", ids[:2]),
                (listed, "none", []),
                (unlisted, "others", ids[:2]),
                (unlisted, "all", []),
            )
        ]
    )
    deleted = await any_db.batch([Step(feeds.delete().where(listed), {"ids": as_list(ids[1:3])})])

    assert (changed, deleted) == ([2, 0, 2, 4], [2])
    assert [row["id"] for row in await any_db.query(select(feeds.c.id).order_by(feeds.c.id))] == [ids[0], ids[3]]


async def test_a_text_is_looked_up_for_each_row(any_db: Database) -> None:
    await any_db.batch([Step(KEEP, [fact(f"{number}", "old") for number in range(len(AWKWARD) + 1)])])
    texts = {f"{number}": value for number, value in enumerate(AWKWARD)}
    change = instance_state.update().where(one_of(instance_state.c.name, "names"))

    await any_db.batch(
        [
            Step(
                change.values(value=looked_up("texts", instance_state.c.name)),
                {"names": as_list([*texts]), "texts": json.dumps(texts)},
            )
        ]
    )

    assert await values_of(any_db) == texts | {f"{len(AWKWARD)}": "old"}


@pytest.mark.parametrize("value", AWKWARD)
async def test_text_comes_back_as_it_went_in(any_db: Database, value: str) -> None:
    await any_db.batch([Step(KEEP, fact("a", value))])

    assert await values_of(any_db) == {"a": value}


async def test_text_of_a_megabyte_comes_back_as_it_went_in(any_db: Database) -> None:
    long = "汉a" * 250_000

    await any_db.batch([Step(KEEP, fact("a", long))])

    assert await values_of(any_db) == {"a": long}


@pytest.mark.parametrize("number", [0, 1, -1, 2**31, 2**53 - 1])
async def test_whole_numbers_come_back_whole(any_db: Database, number: int) -> None:
    feed = {"url": "http://a", "host": "a", "interval_seconds": number, "created_at": NOW}
    await any_db.batch([Step(ADD_FEED, feed)])

    [row] = await any_db.query(select(feeds.c.interval_seconds, feeds.c.title, feeds.c.status))

    assert (row["interval_seconds"], row["title"], row["status"]) == (number, None, "active")
    assert type(row["interval_seconds"]) is int


async def test_a_number_given_by_the_database_is_an_int_that_grows(any_db: Database) -> None:
    user = {"created_at": NOW}
    await any_db.batch([Step(ADD_USER, [user | {"name": "alice"}, user | {"name": "bob"}])])

    alice, bob = await any_db.query(select(users.c.id).order_by(users.c.name))

    assert type(alice["id"]) is int
    assert alice["id"] < bob["id"]


async def test_text_is_told_apart_by_case_accent_and_width(any_db: Database) -> None:
    names = ["Label", "label", "läbel", "ｌabel"]
    await any_db.batch([Step(ADD_USER, {"name": "alice", "created_at": NOW})])
    [alice] = await any_db.query(select(users.c.id))

    await any_db.batch([Step(ADD_LABEL, [{"user_id": alice["id"], "name": name} for name in names])])

    [row] = await any_db.query(select(func.count().label("n")).select_from(labels))
    assert row["n"] == 4


async def test_a_batch_tells_how_many_rows_each_step_matched(any_db: Database) -> None:
    await any_db.batch([Step(KEEP, [fact("a", "1"), fact("b", "1")])])

    changed = await any_db.batch(
        [
            Step(CHANGE, {"key": "a", "new": "1"}),
            Step(CHANGE, {"key": "nobody", "new": "2"}),
            Step(instance_state.update().values(value="3")),
            Step(REMOVE, {"key": "b"}),
        ]
    )

    assert changed == [1, 0, 2, 1]


async def test_a_batch_that_breaks_in_the_middle_leaves_nothing(any_db: Database) -> None:
    await any_db.batch([Step(KEEP, fact("a", "old"))])
    steps = [
        Step(KEEP, fact("b", "new")),
        Step(CHANGE, {"key": "a", "new": "new"}),
        Step(KEEP, [fact("c", "new"), fact("a", "clash")]),
        Step(KEEP, fact("d", "new")),
    ]

    with pytest.raises(ConstraintViolated):
        await any_db.batch(steps)

    assert await values_of(any_db) == {"a": "old"}


async def test_a_null_where_none_may_be_undoes_the_batch(any_db: Database) -> None:
    feed = {"url": "http://a", "host": "a", "interval_seconds": None, "created_at": NOW}
    await any_db.batch([Step(ADD_FEED, feed)])
    violation = feeds.update().values(claim_check=None, title="changed")

    with pytest.raises(ConstraintViolated):
        await any_db.batch([Step(KEEP, fact("a", "1")), Step(violation)])

    assert await values_of(any_db) == {}
    assert [row["title"] for row in await any_db.query(select(feeds.c.title))] == [None]


async def test_a_row_without_its_owner_undoes_the_batch(any_db: Database) -> None:
    orphan = {
        "feed_id": 999_999_999,
        "guid": "g",
        "sort_at": "t",
        "refresh_token": "t",
        "digest": "d",
        "first_seen_at": "t",
        "last_seen_at": "t",
    }

    with pytest.raises(ConstraintViolated):
        await any_db.batch([Step(KEEP, fact("a", "1")), Step(ADD_ENTRY, orphan)])

    assert await values_of(any_db) == {}


async def test_a_statement_that_makes_no_sense_undoes_the_batch(any_db: Database) -> None:
    with pytest.raises(StatementRefused):
        await any_db.batch([Step(KEEP, fact("a", "1")), Step(text("UPDATE no_such_table SET a = 1"))])

    assert await values_of(any_db) == {}


async def test_inserting_again_keeps_the_first_row(any_db: Database) -> None:
    await any_db.batch([Step(KEEP_NEW, fact("a", "first"))])

    await any_db.batch([Step(KEEP_NEW, fact("a", "second")), Step(KEEP_NEW, [fact("a", "third"), fact("b", "new")])])

    assert await values_of(any_db) == {"a": "first", "b": "new"}


async def test_rows_of_one_step_get_their_numbers_in_its_order(any_db: Database) -> None:
    names = [f"user {(number * 7) % 60}" for number in range(60)]

    await any_db.batch([Step(ADD_USER, [{"name": name, "created_at": NOW} for name in names])])

    rows = await any_db.query(select(users.c.name).order_by(users.c.id))
    assert [row["name"] for row in rows] == names


async def test_one_row_of_many_that_breaks_a_constraint_undoes_the_batch(any_db: Database) -> None:
    rows = [fact(f"f{number}", "x") for number in range(20)]

    with pytest.raises(ConstraintViolated):
        await any_db.batch([Step(KEEP, fact("before", "x")), Step(KEEP, [*rows, fact("f7", "again")])])

    assert await values_of(any_db) == {}


async def test_a_row_that_breaks_a_constraint_undoes_a_step_of_many_rows_alone(any_db: Database) -> None:
    rows = [fact(f"f{number}", "x") for number in range(1200)]

    with pytest.raises(ConstraintViolated):
        await any_db.batch([Step(KEEP, [*rows, fact("f7", "again")])])

    assert await values_of(any_db) == {}


async def test_rows_of_one_step_that_exist_or_repeat_keep_the_first(any_db: Database) -> None:
    await any_db.batch([Step(KEEP, fact("a", "first"))])

    rows = [fact("a", "second"), fact("b", "third"), fact("b", "fourth")]
    await any_db.batch([Step(KEEP_NEW, rows)])

    assert await values_of(any_db) == {"a": "first", "b": "third"}


async def test_a_list_parameter_finds_all_of_its_values(any_db: Database) -> None:
    names = [f"名{i}" if i % 2 else f"n{i}'" for i in range(300)]
    await any_db.batch([Step(KEEP, [fact(f"f{i}", f"v{i:03}") for i in range(500)])])

    rows = await any_db.query(SOME, {"names": as_list([f"f{i}" for i in range(0, 500, 2)] + names)})

    assert [row["value"] for row in rows] == [f"v{i:03}" for i in range(0, 500, 2)]
    assert await any_db.query(SOME, {"names": as_list([])}) == []


async def test_three_thousand_rows_go_in_with_one_step(any_db: Database) -> None:
    rows = [fact(f"f{i:04}", f"值 {i}") for i in range(3000)]

    await any_db.batch([Step(KEEP, rows)])

    found = await values_of(any_db)
    assert len(found) == 3000
    assert found["f2999"] == "值 2999"


async def test_a_subselect_in_a_row_sees_what_the_batch_wrote_before(any_db: Database) -> None:
    told = instance_state.insert().values(
        name=bindparam("copy"),
        value=select(instance_state.c.value).where(instance_state.c.name == bindparam("original")).scalar_subquery(),
    )

    await any_db.batch(
        [
            Step(KEEP, fact("a", "x")),
            Step(told, [{"copy": "b", "original": "a"}, {"copy": "c", "original": "a"}]),
        ]
    )

    assert await values_of(any_db) == {"a": "x", "b": "x", "c": "x"}


async def test_an_empty_batch_and_an_empty_list_change_nothing(any_db: Database) -> None:
    assert await any_db.batch([]) == []

    await any_db.batch([Step(KEEP, [])])

    assert await values_of(any_db) == {}


async def test_a_missing_parameter_is_an_error_and_never_null(any_db: Database) -> None:
    with pytest.raises(KeyError):
        await any_db.batch([Step(CHANGE, {"key": "a"})])


async def test_thirty_batches_at_once_all_happen(any_db: Database) -> None:
    add = instance_state.update().where(instance_state.c.name == "n").values(value=instance_state.c.value.concat("+"))
    await any_db.batch([Step(KEEP, fact("n", ""))])

    await asyncio.gather(*(any_db.batch([Step(add)]) for _ in range(30)))

    assert await values_of(any_db) == {"n": "+" * 30}


@pytest.fixture
async def second_db(any_db: Database, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """Another connection to the same database, as another process would have."""
    other = connect(request, request.node.callspec.params["any_db"], tmp_path)
    yield other
    await other.close()


async def test_what_one_connection_wrote_another_reads_at_once(any_db: Database, second_db: Database) -> None:
    await any_db.batch([Step(KEEP, fact("a", "1"))])

    assert await values_of(second_db) == {"a": "1"}


async def test_two_connections_writing_at_once_both_succeed(any_db: Database, second_db: Database) -> None:
    writes = [
        db.batch([Step(KEEP, fact(f"{name}{i}", "1"))])
        for i in range(20)
        for name, db in (("a", any_db), ("b", second_db))
    ]

    await asyncio.gather(*writes)

    assert len(await values_of(any_db)) == 40
