"""`feedmill backup` while a server runs, its check, and its restore: the drill of docs/running/backup.md."""

import re
import shutil
from pathlib import Path

import pytest

from feedmill.library.archive.backup_status import BackupStatus, last_backup
from feedmill.store.drivers.sqlite import SqliteDatabase
from tests.cli.command import serving
from tests.cli.command_line import CommandLine
from tests.databases import emptied, settings_of
from tests.flows.refresh_environment import answer, item


async def collected(cli: CommandLine) -> None:
    await cli.ok("add", cli.web.serve("/feed", answer(item("a"), item("b"), title="News")))


async def feeds(cli: CommandLine) -> list[tuple[int, str, int]]:
    return [(feed["id"], feed["title"], feed["entries"]) for feed in (await cli.ok("feeds", "--json")).records]


async def test_drill_a_sqlite_backup_is_copied_back(cli: CommandLine, tmp_path: Path) -> None:
    await collected(cli)
    with serving(cwd=cli.folder, settings=cli.settings):
        done = await cli.ok("backup", "--with-objects", "kept")
    checked = await cli.ok("backup", "--check", "kept")
    shutil.rmtree(cli.folder / "data")

    (cli.folder / "data").mkdir()
    shutil.copy(cli.folder / "kept" / "feedmill.db", cli.folder / "data")
    shutil.copytree(cli.folder / "kept" / "objects", cli.folder / "data" / "objects")

    assert done.out.startswith("backed up to kept: rows ")
    assert checked.out.startswith("intact: made 2")
    assert await feeds(cli) == [(1, "News", 2)]
    assert (await cli.ok("restore", "--all")).out == "1 body replayed: added 0 entries, revised 0\n"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_drill_a_backup_is_restored_into_an_empty_database(
    cli: CommandLine, request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    await collected(cli)
    await cli.ok("backup", "--with-objects", "kept")
    new = tmp_path / "new"
    new.mkdir()
    async with emptied(request, kind, new):
        settings = settings_of(request, kind, new) | {"data": str(new)}

        done = await cli.ok("backup", "--restore", "kept", **settings)
        again = await cli.run("backup", "--restore", "kept", **settings)
        there = CommandLine(cli.folder, cli.web, cli.settings | settings)

        assert done.out.startswith("restored ")
        assert (again.code, "not empty" in again.err) == (2, True)
        assert await feeds(there) == [(1, "News", 2)]
        assert (await there.ok("restore", "--all")).out == "1 body replayed: added 0 entries, revised 0\n"


async def test_a_backup_and_its_check_are_recorded(cli: CommandLine) -> None:
    await collected(cli)
    await cli.ok("backup", "kept")
    before = await last_one(cli)
    await cli.ok("backup", "--check", "kept")

    assert (before.folder, before.sound) == (str(cli.folder / "kept"), None)
    assert (await last_one(cli)).sound is True


async def test_checking_a_backup_elsewhere_creates_no_database_there(cli: CommandLine, tmp_path: Path) -> None:
    await collected(cli)
    await cli.ok("backup", "kept")
    shutil.rmtree(cli.folder / "data")

    await cli.ok("backup", "--check", "kept")

    assert not (cli.folder / "data").exists()


async def last_one(cli: CommandLine) -> BackupStatus:
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    try:
        found = await last_backup(db)
    finally:
        await db.close()
    assert found is not None
    return found


async def test_a_damaged_backup_is_reported_with_an_exit_code(cli: CommandLine) -> None:
    await collected(cli)
    await cli.ok("backup", "kept")
    (cli.folder / "kept" / "objects.jsonl.gz").unlink()

    plain = await cli.run("backup", "--check", "kept")
    [told] = (await cli.run("backup", "--check", "--json", "kept")).records

    assert (plain.code, plain.out) == (1, "objects.jsonl.gz: can't be read (No such file or directory)\n")
    assert told["sound"] is False


async def test_an_impossible_request_is_refused_in_one_line(cli: CommandLine) -> None:
    (cli.folder / "full").mkdir()
    (cli.folder / "full" / "notes").touch()

    for args in (("full",), ("--check", "full"), ("--restore", "nowhere")):
        done = await cli.run("backup", *args)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done


async def test_objects_are_only_listed_unless_requested(cli: CommandLine) -> None:
    await collected(cli)

    done = await cli.ok("backup", "kept")

    assert re.search(r"3 objects \(\d+ B\) listed, not copied", done.out)
    assert not (cli.folder / "kept" / "objects").exists()
