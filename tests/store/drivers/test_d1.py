"""The D1 driver on the real workerd: values, lists of rows and limits."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    func,
    insert,
    literal,
    select,
    text,
)
from sqlalchemy.schema import CreateTable

from feedmill.errors import (
    ConstraintViolated,
    StatementRefused,
)
from feedmill.store.database import Step
from feedmill.store.drivers.d1 import D1Database
from tests.services.d1 import TOKEN
from tests.services.server import Service

metadata = MetaData()
boxes = Table("d1_boxes", metadata, Column("id", Integer, primary_key=True), Column("note", Text))
things = Table(
    "d1_things",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("box_id", ForeignKey(boxes.c.id, ondelete="CASCADE")),
    Column("text", Text),
    Column("weight", Float),
)
ADD_BOX = insert(boxes)
ADD = insert(things)
ALL = select(things).order_by(things.c.id)
CHANGE = things.update().where(things.c.id == bindparam("key")).values(text=bindparam("new"))

AWKWARD = ["", "漢字 é 😀", 'it\'s "quoted" \\ ? ; --', "line\nbreak\ttab", "nul\0byte", '{"json": [1]}', "7"]


def thing(number: int, **values: Any) -> dict[str, Any]:
    return {"id": number, "box_id": None, "text": None, "weight": None, **values}


@pytest.fixture
async def db(d1_service: Service) -> AsyncIterator[D1Database]:
    database = D1Database(d1_service.url, TOKEN)
    for table in reversed(metadata.sorted_tables):
        await database.exec(f"DROP TABLE IF EXISTS {table.name}")
    for table in metadata.sorted_tables:
        await database.exec(str(CreateTable(table)))
    yield database
    await database.exec("DROP TABLE d1_things")
    await database.exec("DROP TABLE d1_boxes")
    await database.close()


# --- values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("value", AWKWARD)
async def test_text_survives_alone_and_in_a_list(db: D1Database, value: str, many: bool) -> None:
    row = thing(1, text=value)

    await db.batch([Step(ADD, [row] if many else row)])

    assert await db.query(ALL) == [row]


@pytest.mark.parametrize("many", [False, True])
async def test_numbers_survive_alone_and_in_a_list(db: D1Database, many: bool) -> None:
    row = thing(2**53 - 1, weight=0.1)

    await db.batch([Step(ADD, [row] if many else row)])

    assert await db.query(ALL) == [row]
    [found] = await db.query(select(func.typeof(things.c.id).label("kind")))
    assert found == {"kind": "integer"}


@pytest.mark.parametrize("many", [False, True])
async def test_an_integer_in_a_column_of_text_gets_no_decimal_point(db: D1Database, many: bool) -> None:
    row = thing(1, text=5)

    await db.batch([Step(ADD, [row] if many else row)])

    assert (await db.query(ALL))[0]["text"] == "5"


async def test_integers_are_divided_and_joined_as_integers(db: D1Database) -> None:
    statement = select(
        (literal(7).op("/")(bindparam("two"))).label("half"), func.concat("n", bindparam("two")).label("name")
    )

    assert await db.query(statement, {"two": 2}) == [{"half": 3, "name": "n2"}]


async def test_a_boolean_is_kept_as_a_number(db: D1Database) -> None:
    assert await db.query(select(bindparam("yes").label("yes")), {"yes": True}) == [{"yes": 1}]


@pytest.mark.parametrize("value", [2**53, -(2**53), float("nan"), float("inf"), b"bytes", "half \ud800 pair", [1]])
@pytest.mark.parametrize("many", [False, True])
async def test_a_value_that_d1_would_change_is_refused(db: D1Database, value: Any, many: bool) -> None:
    row = thing(1, text=value)

    with pytest.raises(StatementRefused, match=r"D1 (accepts|stores)"):
        await db.batch([Step(ADD, [row] if many else row)])


# --- lists of rows ----------------------------------------------------------------------------------------


async def test_three_thousand_rows_take_one_statement(d1_service: Service, db: D1Database) -> None:
    one_at_a_time = D1Database(d1_service.url, TOKEN, statements_per_batch=1)
    rows = [thing(number, text=f"行 {number}", weight=number / 7) for number in range(3000)]

    await one_at_a_time.batch([Step(ADD, rows)])
    await one_at_a_time.close()

    assert await db.query(ALL) == rows


async def test_a_list_is_split_before_its_json_grows_too_long(db: D1Database) -> None:
    rows = [thing(number, text="漢" * 100_000) for number in range(10)]

    await db.batch([Step(ADD, rows)])

    assert await db.query(ALL) == rows


async def test_rows_of_any_size_keep_their_order(db: D1Database) -> None:
    sizes = [10, 1_200_000, 10, 700_000, 700_000, 10]
    rows = [thing(0, text=f"{at}" + "x" * size) for at, size in enumerate(sizes)]
    log = insert(things).values(id=bindparam("none"), text=bindparam("text"))

    await db.batch([Step(log, [{"none": None, "text": row["text"]} for row in rows])])

    assert [row["text"][0] for row in await db.query(ALL)] == list("012345")


async def test_a_list_that_fails_in_its_last_row_writes_nothing(db: D1Database) -> None:
    rows = [thing(number) for number in [*range(500), 0]]

    with pytest.raises(ConstraintViolated, match="UNIQUE"):
        await db.batch([Step(ADD_BOX, {"id": 1, "note": "x"}), Step(ADD, rows)])

    assert await db.query(select(boxes)) == []
    assert await db.query(ALL) == []


async def test_a_list_for_an_update_becomes_one_statement_for_each_row(db: D1Database) -> None:
    await db.batch([Step(ADD, [thing(1), thing(2), thing(3)])])

    changed = await db.batch([Step(CHANGE, [{"key": 1, "new": "a"}, {"key": 3, "new": "c"}])])

    assert changed == [-1]
    assert [row["text"] for row in await db.query(ALL)] == ["a", None, "c"]


async def test_a_list_with_expressions_and_subselects_takes_one_statement(d1_service: Service, db: D1Database) -> None:
    box_of = select(boxes.c.id).where(boxes.c.note == bindparam("box")).scalar_subquery()
    add = insert(things).values(
        id=bindparam("number"),
        box_id=box_of,
        text=func.lower(func.trim(bindparam("raw"))).concat("'?' (VALUES)"),
    )
    await db.batch([Step(ADD_BOX, [{"id": 7, "note": "red"}, {"id": 8, "note": "blue"}])])
    one_at_a_time = D1Database(d1_service.url, TOKEN, statements_per_batch=1)

    await one_at_a_time.batch(
        [Step(add, [{"number": 1, "box": "blue", "raw": " A "}, {"number": 2, "box": "red", "raw": "B"}])]
    )
    await one_at_a_time.close()

    assert [(row["box_id"], row["text"]) for row in await db.query(ALL)] == [
        (8, "a'?' (VALUES)"),
        (7, "b'?' (VALUES)"),
    ]


async def test_a_row_that_reads_the_rows_before_it_sees_them(db: D1Database) -> None:
    following = select(func.coalesce(func.max(things.c.id), 0) + 1).scalar_subquery()
    add = insert(things).values(id=following, text=bindparam("text"))

    await db.batch([Step(add, [{"text": "a"}, {"text": "b"}, {"text": "c"}])])

    assert [(row["id"], row["text"]) for row in await db.query(ALL)] == [(1, "a"), (2, "b"), (3, "c")]


async def test_an_insert_of_several_rows_is_left_unchanged(db: D1Database) -> None:
    pair = text("INSERT INTO d1_boxes (note) VALUES ('a'), ('b')")

    await db.batch([Step(pair, [{}, {}])])

    assert [row["note"] for row in await db.query(select(boxes))] == ["a", "b", "a", "b"]


async def test_a_delete_counts_its_own_rows_and_not_those_of_a_cascade(db: D1Database) -> None:
    await db.batch([Step(ADD_BOX, {"id": 1, "note": None}), Step(ADD, [thing(1, box_id=1), thing(2, box_id=1)])])

    assert await db.batch([Step(boxes.delete())]) == [1]
    assert await db.query(ALL) == []


# --- limits -----------------------------------------------------------------------------------------------


async def test_a_hundred_parameters_are_accepted_and_one_more_is_refused(db: D1Database) -> None:
    def wide(count: int) -> Any:
        return select(*[literal(number).label(f"c{number}") for number in range(count)])

    [row] = await db.query(wide(100))

    assert row["c99"] == 99
    with pytest.raises(StatementRefused, match="100 parameters in a statement, not 101"):
        await db.query(wide(101))


async def test_a_value_or_a_row_beyond_two_megabytes_is_refused(db: D1Database) -> None:
    half = "漢" * 400_000
    pair = insert(boxes).values(id=bindparam("id"), note=bindparam("a").concat(bindparam("b")))

    await db.batch([Step(ADD_BOX, {"id": 1, "note": "x" * 1_999_000})])

    for params in ({"id": 2, "note": "x" * 2_000_001}, [{"id": 2, "note": "漢" * 700_000}]):
        with pytest.raises(StatementRefused, match="2,000,000 bytes in a value or a row"):
            await db.batch([Step(ADD_BOX, params)])
    with pytest.raises(StatementRefused, match="2,000,000 bytes in a value or a row"):
        await db.batch([Step(pair, {"id": 2, "a": half, "b": half})])


async def test_a_statement_beyond_100_kb_is_refused(db: D1Database) -> None:
    with pytest.raises(StatementRefused, match="100,000 bytes of SQL"):
        await db.exec("SELECT '" + "x" * 100_000 + "'")


async def test_a_batch_of_too_many_statements_is_refused_before_anything_is_sent(d1_service: Service) -> None:
    free_plan = D1Database(d1_service.url, "nobodys-token", statements_per_batch=50)
    changes = [{"key": number, "new": "x"} for number in range(51)]

    with pytest.raises(StatementRefused, match="50 statements in a batch, not 51"):
        await free_plan.batch([Step(CHANGE, changes)])


async def test_a_batch_larger_than_the_proxy_reads_is_refused(db: D1Database) -> None:
    rows = [thing(number, text="x" * 900_000) for number in range(19)]

    with pytest.raises(StatementRefused, match="16,777,216 bytes at once"):
        await db.batch([Step(ADD, rows)])
