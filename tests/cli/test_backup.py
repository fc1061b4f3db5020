"""`feedmill backup` beside a running server, checked, and put back: the drill of docs/running/backup.md."""

import re
import shutil
from pathlib import Path

import pytest

from feedmill.library.archive.backup_status import BackupStatus, last_backup
from feedmill.store.drivers.sqlite import SqliteDatabase
from tests.cli.command import serving
from tests.cli.mill import Mill
from tests.databases import emptied, settings_of
from tests.flows.world import answer, item


async def collected(mill: Mill) -> None:
    await mill.ok("add", mill.web.serve("/feed", answer(item("a"), item("b"), title="News")))


async def feeds(mill: Mill) -> list[tuple[int, str, int]]:
    return [(feed["id"], feed["title"], feed["entries"]) for feed in (await mill.ok("feeds", "--json")).records]


async def test_the_drill_a_sqlite_backup_is_copied_back(mill: Mill, tmp_path: Path) -> None:
    await collected(mill)
    with serving(cwd=mill.folder, settings=mill.settings):
        done = await mill.ok("backup", "--with-objects", "kept")
    checked = await mill.ok("backup", "--check", "kept")
    shutil.rmtree(mill.folder / "data")

    (mill.folder / "data").mkdir()
    shutil.copy(mill.folder / "kept" / "feedmill.db", mill.folder / "data")
    shutil.copytree(mill.folder / "kept" / "objects", mill.folder / "data" / "objects")

    assert done.out.startswith("backed up to kept: rows ")
    assert checked.out.startswith("sound: made 2")
    assert await feeds(mill) == [(1, "News", 2)]
    assert (await mill.ok("restore", "--all")).out == "1 body replayed: added 0 entries, revised 0\n"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_the_drill_a_backup_is_put_back_into_an_empty_database(
    mill: Mill, request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    await collected(mill)
    await mill.ok("backup", "--with-objects", "kept")
    new = tmp_path / "new"
    new.mkdir()
    async with emptied(request, kind, new):
        settings = settings_of(request, kind, new) | {"data": str(new)}

        done = await mill.ok("backup", "--restore", "kept", **settings)
        again = await mill.run("backup", "--restore", "kept", **settings)
        there = Mill(mill.folder, mill.web, mill.settings | settings)

        assert done.out.startswith("put back ")
        assert (again.code, "not empty" in again.err) == (2, True)
        assert await feeds(there) == [(1, "News", 2)]
        assert (await there.ok("restore", "--all")).out == "1 body replayed: added 0 entries, revised 0\n"


async def test_a_backup_and_its_check_are_written_down(mill: Mill) -> None:
    await collected(mill)
    await mill.ok("backup", "kept")
    before = await last_one(mill)
    await mill.ok("backup", "--check", "kept")

    assert (before.folder, before.sound) == (str(mill.folder / "kept"), None)
    assert (await last_one(mill)).sound is True


async def test_checking_a_backup_elsewhere_makes_no_database_there(mill: Mill, tmp_path: Path) -> None:
    await collected(mill)
    await mill.ok("backup", "kept")
    shutil.rmtree(mill.folder / "data")

    await mill.ok("backup", "--check", "kept")

    assert not (mill.folder / "data").exists()


async def last_one(mill: Mill) -> BackupStatus:
    db = SqliteDatabase(mill.folder / "data" / "feedmill.db")
    try:
        found = await last_backup(db)
    finally:
        await db.close()
    assert found is not None
    return found


async def test_a_damaged_backup_is_told_with_an_exit_code(mill: Mill) -> None:
    await collected(mill)
    await mill.ok("backup", "kept")
    (mill.folder / "kept" / "objects.jsonl.gz").unlink()

    plain = await mill.run("backup", "--check", "kept")
    [told] = (await mill.run("backup", "--check", "--json", "kept")).records

    assert (plain.code, plain.out) == (1, "objects.jsonl.gz: can't be read (No such file or directory)\n")
    assert told["sound"] is False


async def test_what_can_not_be_done_is_said_in_one_line(mill: Mill) -> None:
    (mill.folder / "full").mkdir()
    (mill.folder / "full" / "notes").touch()

    for args in (("full",), ("--check", "full"), ("--restore", "nowhere")):
        done = await mill.run("backup", *args)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done


async def test_objects_are_only_listed_unless_asked_for(mill: Mill) -> None:
    await collected(mill)

    done = await mill.ok("backup", "kept")

    assert re.search(r"3 objects \(\d+ B\) listed, not copied", done.out)
    assert not (mill.folder / "kept" / "objects").exists()
