"""Rows in one parameter come out as they went in, on every database."""

from sqlalchemy import Column, select

from feedmill.store.columns import Id, exact_text
from feedmill.store.database import Database
from feedmill.store.json_rows import as_rows, json_rows

ROWS = json_rows("given", Column("number", Id), Column("guid", exact_text(512)))
ALL = select(ROWS.c.number, ROWS.c.guid).order_by(ROWS.c.number)


async def test_rows_come_out_as_they_went_in(any_db: Database) -> None:
    given = [(1, "plain"), (2, 'it\'s "quoted" \\ %s :name'), (3, "陶窑 🏺"), (2**40, "")]

    [rows] = as_rows(given)
    found = await any_db.query(ALL, {"given": rows})

    assert [(row["number"], row["guid"]) for row in found] == given


def test_many_rows_are_several_parameters() -> None:
    given = [(number, "g" * 500) for number in range(10_000)]

    lists = as_rows(given)

    assert (as_rows([]), len(lists)) == ([], 6)
    assert max(map(len, lists)) < 1_000_100


async def test_numbers_in_a_text_stay_text(any_db: Database) -> None:
    given = [(1, "007"), (2, "1e3"), (3, "null"), (4, "Guid "), (5, "guid")]

    [rows] = as_rows(given)
    found = await any_db.query(ALL, {"given": rows})

    assert [row["guid"] for row in found] == [guid for _, guid in given]
