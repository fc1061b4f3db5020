"""PostgreSQL inserts the rows of a step by one statement, where that gives the same rows."""

import pytest

from feedmill.store.drivers.postgres_bulk_insert import MOST_ROWS, arrays_of, bulk_insert_sql


def test_each_parameter_becomes_an_array_of_its_type() -> None:
    sql = "INSERT INTO t (a, b) VALUES ($2::BIGINT, concat(CAST($1 AS text), (SELECT x FROM u WHERE y = $2::BIGINT)))"

    assert bulk_insert_sql(sql) == (
        "INSERT INTO t (a, b) SELECT listed.p2, concat(listed.p1, (SELECT x FROM u WHERE y = listed.p2)) "
        "FROM unnest($1::text[], $2::BIGINT[]) AS listed(p1, p2)"
    )


def test_what_follows_the_row_stays() -> None:
    sql = "INSERT INTO t (a) VALUES (lower(')' || $1::VARCHAR)) ON CONFLICT DO NOTHING"

    assert bulk_insert_sql(sql) == (
        "INSERT INTO t (a) SELECT lower(')' || listed.p1) FROM unnest($1::VARCHAR[]) AS listed(p1) "
        "ON CONFLICT DO NOTHING"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET a = $1::BIGINT",
        "INSERT INTO t SELECT a FROM u WHERE b = $1::BIGINT",
        "INSERT INTO t (a) VALUES ($1)",
        "INSERT INTO t (a) VALUES ($1::NUMERIC(10, 2))",
        "INSERT INTO t (a) VALUES (1)",
        "INSERT INTO t (a) VALUES ($1::BIGINT), ($2::BIGINT)",
        "INSERT INTO t (a) VALUES ($1::BIGINT) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
        "INSERT INTO t (a) VALUES ((SELECT max(a) FROM t) + $1::BIGINT)",
    ],
)
def test_a_statement_that_would_change_is_run_for_each_row(sql: str) -> None:
    assert bulk_insert_sql(sql) is None


def test_many_rows_are_several_statements() -> None:
    rows = [[number, str(number)] for number in range(MOST_ROWS + 1)]

    first, second = arrays_of(rows)

    assert [first[0][0], first[1][-1]] == [0, str(MOST_ROWS - 1)]
    assert second == [[MOST_ROWS], [str(MOST_ROWS)]]
