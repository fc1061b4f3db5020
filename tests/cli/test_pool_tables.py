"""`feedmill pool` with a source table, and `feedmill views`: what a program of another design needs."""

import sqlite3
from contextlib import closing

from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item


def run_sql(cli: CommandLine, *statements: str) -> list[tuple[object, ...]]:
    """Runs statements as another program would; the rows of the last one."""
    with closing(sqlite3.connect(cli.folder / "data" / "feedmill.db", isolation_level=None)) as program:
        rows: list[tuple[object, ...]] = []
        for statement in statements:
            rows = program.execute(statement).fetchall()
        return rows


async def test_rows_of_a_table_are_handed_out(cli: CommandLine) -> None:
    await cli.ok("migrate")
    run_sql(
        cli,
        "CREATE TABLE own_texts (id INTEGER PRIMARY KEY, title TEXT, content TEXT)",
        "INSERT INTO own_texts VALUES (1, 'one', '<p>1</p>'), (2, 'two', '<p>2</p>')",
    )

    told = await cli.ok("pool", "create", "mine", "--no-entries", "--source-table", "own_texts")
    taken = (await cli.ok("pool", "pop", "mine", "contents", "-n", "9")).records
    [group] = (await cli.ok("pool", "show", "mine")).records

    assert told.out == "1 mine: 2 titles, 2 contents\n"
    assert [each["text"] for each in taken] == ["<p>1</p>", "<p>2</p>"]
    assert (group["titles"]["source_table"], group["titles"]["source_problem"]) == ("own_texts", None)


async def test_a_table_of_one_pool_is_named_with_its_kind_and_removed(cli: CommandLine) -> None:
    await cli.ok("migrate")
    run_sql(cli, "CREATE TABLE own_titles (id INTEGER PRIMARY KEY, title TEXT)")
    await cli.ok("pool", "create", "mine", "--no-entries")

    refused = await cli.run("pool", "change", "mine", "--source-table", "own_titles")
    await cli.ok("pool", "change", "mine", "--source-table", "own_titles", "--kind", "titles")
    run_sql(cli, "DROP TABLE own_titles")
    states = [line.split("\t")[11] for line in (await cli.ok("pool", "list")).out.splitlines()[1:]]
    await cli.ok("pool", "change", "mine", "--source-table", "")
    [group] = (await cli.ok("pool", "show", "mine")).records

    assert (refused.code, refused.err) == (
        2,
        "feedmill: the table own_titles has no column content / text: add it, or create a view that has it\n",
    )
    assert states == ["table unreadable", "ok"]
    assert (group["titles"]["source_table"], group["titles"]["source_problem"]) == ("", None)


async def test_views_are_created_used_and_dropped(cli: CommandLine) -> None:
    await cli.ok("add", cli.web.serve("/feed", answer(item("a", "<p>text</p>"), item("b", "<p>text</p>"))))
    await cli.ok("pool", "create", "all")

    created = await cli.ok("views", "create")
    [[id, text]] = run_sql(
        cli, "SELECT id, title as text FROM titles WHERE group_id = 1 AND status = 1 ORDER BY batch_id DESC, id LIMIT 1"
    )
    run_sql(cli, f"UPDATE titles SET status = 0 WHERE id = {id}")
    taken = (await cli.ok("pool", "pop", "all", "titles", "-n", "9")).records
    [used, _] = (await cli.ok("pool", "items", "all", "titles", "used")).records[::-1]

    assert created.out == "created items, titles, contents\n"
    assert run_sql(cli, "SELECT title, content_html FROM items ORDER BY id")[0] == (text, "<p>text</p>")
    assert {text, *(each["text"] for each in taken)} == {"a", "b"}
    assert (used["id"], used["taken_by"]) == (id, "status update")
    assert (await cli.ok("views", "drop")).out == "dropped contents, items, titles\n"
    assert (await cli.ok("views", "drop")).out == "nothing to do: there are no views\n"


async def test_views_leave_tables_of_the_same_name_alone(cli: CommandLine) -> None:
    await cli.ok("migrate")
    run_sql(cli, "CREATE TABLE titles (id INTEGER PRIMARY KEY, title TEXT)")

    refused = await cli.run("views", "create")
    created = await cli.ok("views", "create", "items", "contents")

    assert (refused.code, "of these names: titles. Rename them" in refused.err) == (2, True)
    assert created.out == "created items, contents\n"
    assert (await cli.run("views", "create", "feeds")).code == 2
