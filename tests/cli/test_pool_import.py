"""`feedmill pool import`: the texts of a file, each once, whatever is wrong with other lines or kills the command."""

import os
import signal

from feedmill.model.pool import PoolKey, PoolKind
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.pools.items import count_items
from tests.cli.command_line import CommandLine
from tests.waiting import until


async def texts(cli: CommandLine, kind: str = "titles") -> list[str]:
    return [item["text"] for item in (await cli.ok("pool", "pop", "mine", kind, "-n", "1000")).records]


async def test_lines_json_lines_and_csv_are_imported(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "mine", "--no-entries")
    (cli.folder / "lines.txt").write_text("one\ntwo\n")
    (cli.folder / "more.jsonl").write_text('{"id": 3, "title": "three", "content": "<p>3</p>", "batch_id": 9}\n')
    (cli.folder / "rows.csv").write_text("id,text,batch_id\n4,<p>4</p>,8\n")

    lines = await cli.ok("pool", "import", "mine", "lines.txt", "--batch-id", "1")
    more = await cli.ok("pool", "import", "mine", "more.jsonl")
    rows = await cli.ok("pool", "import", "mine", "rows.csv", "--kind", "contents", "--json")

    assert (lines.out, more.out) == ("2 texts added\n", "2 texts added\n")
    assert rows.records == [{"added": 1, "known": 0, "bad": 0}]
    assert await texts(cli) == ["three", "one", "two"]
    assert await texts(cli, "contents") == ["<p>3</p>", "<p>4</p>"]


async def test_a_file_that_is_imported_twice_is_stored_once(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "mine", "--no-entries")
    (cli.folder / "lines.txt").write_text("one\ntwo\n")
    await cli.ok("pool", "import", "mine", "lines.txt")
    assert await texts(cli) == ["one", "two"]

    again = await cli.ok("pool", "import", "mine", "-", "--format", "lines", typed="one\ntwo\nthree\n")

    assert again.out == "1 text added, 2 there already\n"
    assert await texts(cli) == ["three"]


async def test_bad_lines_are_told_with_their_number_and_lose_nothing_else(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "mine", "--no-entries")
    (cli.folder / "some.jsonl").write_bytes(
        b'{"text": "one"}\nnonsense\n{"text": "two", "batch_id": -1}\n"three"\n\xff\n'
    )

    done = await cli.run("pool", "import", "mine", "some.jsonl")

    assert (done.code, done.out) == (1, "2 texts added, 3 lines could not be taken over\n")
    assert [line.split(":")[0] for line in done.err.splitlines()] == ["line 2", "line 3", "line 5"]
    assert await texts(cli) == ["one", "three"]


async def test_what_cannot_be_imported_at_all_is_one_line(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "mine", "--no-entries")
    (cli.folder / "rows.csv").write_text("a,b\n1,2\n")
    (cli.folder / "lines.txt").write_text("one\n")

    results = [
        await cli.run("pool", "import", "mine", "nowhere.txt"),
        await cli.run("pool", "import", "mine", "rows.csv"),
        await cli.run("pool", "import", "nowhere", "lines.txt"),
        await cli.run("pool", "import", "mine", str(cli.folder)),
    ]

    assert [(done.code, len(done.err.splitlines())) for done in results] == [(2, 1)] * 4
    assert "has no column text, title or content" in results[1].err


async def test_an_import_that_was_killed_is_completed_by_the_next(cli: CommandLine) -> None:
    await cli.ok("pool", "create", "mine", "--no-entries")
    lines = [f"text {number}" for number in range(700)]
    (cli.folder / "all.txt").write_text("\n".join(lines))
    os.mkfifo(cli.folder / "pipe")
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")

    running = cli.start("pool", "import", "mine", "pipe")
    # Open for both, so that it does not wait for a reader.
    pipe = os.open(cli.folder / "pipe", os.O_RDWR)
    os.write(pipe, "".join(f"{line}\n" for line in lines[:600]).encode())

    async def is_half_stored() -> bool:
        return (await count_items(db, PoolKey(1, PoolKind.TITLES))).total == 500

    await until(is_half_stored, otherwise="no chunk was stored")
    running.process.send_signal(signal.SIGKILL)
    await running.done()
    os.close(pipe)
    await db.close()
    again = await cli.ok("pool", "import", "mine", "all.txt")

    assert again.out == "200 texts added, 500 there already\n"
    assert sorted(await texts(cli)) == sorted(lines)
