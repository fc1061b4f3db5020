"""`feedmill restore`: which feeds, which period, what would change."""

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import Table, select

from feedmill.store.database import Step
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.schema import entries, feeds, instance_state
from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item


async def lost(cli: CommandLine, *names: str) -> list[str]:
    """Feeds with these names whose entries were deleted from the database; their URLs."""
    urls = [cli.web.serve(f"/{name}", answer(item(name), title=name)) for name in names]
    await cli.ok("add", *urls)
    db = SqliteDatabase(cli.folder / "data" / "feedmill.db")
    await db.batch([Step(entries.delete())])
    await db.close()
    return urls


async def test_a_dry_run_reports_what_a_restore_then_does(cli: CommandLine) -> None:
    await lost(cli, "a", "b")

    would = await cli.ok("restore", "--all", "--dry-run")
    done = await cli.ok("restore", "--all")
    again = await cli.ok("restore", "--all")

    assert would.out == "2 bodies replayed: would add 2 entries, would revise 0\n"
    assert done.out == "2 bodies replayed: added 2 entries, revised 0\n"
    assert again.out == "2 bodies replayed: added 0 entries, revised 0\n"


async def test_feeds_are_named_by_id_or_url(cli: CommandLine) -> None:
    _, b, _ = await lost(cli, "a", "b", "c")

    [done] = (await cli.ok("restore", "1", b, "--json")).records

    assert done == {"bodies": 2, "added": 2, "revised": 0, "unreadable": 0, "missing": 0, "busy": 0}


@pytest.mark.parametrize(("when", "bodies"), [("--since", 0), ("--until", 1)])
async def test_a_restore_can_be_limited_to_a_period(cli: CommandLine, when: str, bodies: int) -> None:
    await lost(cli, "a")

    [done] = (await cli.ok("restore", "--all", when, "2999-01-01", "--json")).records

    assert done["bodies"] == bodies


async def test_a_terminal_shows_the_progress(cli: CommandLine) -> None:
    await lost(cli, "a", "b")

    shown = await cli.on_terminal("restore", "--all")

    assert "2/2" in shown


async def test_an_empty_database_is_rebuilt_from_the_objects(cli: CommandLine) -> None:
    urls = await lost(cli, "a", "b")
    forget_database(cli)

    would = await cli.ok("restore", "--from-store", "--dry-run", "--json")
    done = await cli.run("restore", "--from-store", "--take-ownership", "--json")

    assert (done.code, done.out) == (0, would.out)
    assert sorted(feed["url"] for feed in (await cli.ok("feeds", "--json")).records) == sorted(urls)


async def test_bodies_without_a_descriptor_are_reported(cli: CommandLine) -> None:
    await lost(cli, "a", "b")
    (objects(cli) / "feeds" / "1.json").unlink()

    done = await cli.run("restore", "--from-store")

    assert (done.code, done.err) == (0, "left out: 1 feed has bodies, but no descriptor that says where the feed is\n")


@pytest.mark.parametrize("args", [(), ("--dry-run",), ("--take-ownership",)])
async def test_restore_from_a_store_without_descriptors_fails_and_writes_nothing(
    cli: CommandLine, args: tuple[str, ...]
) -> None:
    await lost(cli, "a")
    shutil.rmtree(objects(cli) / "feeds")
    (objects(cli) / "feedmill" / "owner.txt").unlink()
    before = files(objects(cli))

    done = await cli.run("--data", "empty", "--set", f"objects={objects(cli)}", "restore", "--from-store", *args)

    assert (done.code, done.out) == (1, "")
    assert "no descriptors" in done.err
    assert files(objects(cli)) == before
    assert await table_sizes(cli.folder / "empty" / "feedmill.db", feeds, entries, instance_state) == [0, 0, 0]
    await cli.ok("purge")


async def test_refresh_due_from_cron_writes_descriptors(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a")))
    (cli.folder / "data").mkdir()
    (cli.folder / "data" / "feeds.json").write_text(json.dumps([url]))

    await cli.ok("refresh", "--due")

    [descriptor] = (objects(cli) / "feeds").iterdir()
    assert json.loads(descriptor.read_text()) == {"feed_id": 1, "url": url, "title": "A feed"}


async def test_a_second_database_restores_and_the_real_one_keeps_purging(cli: CommandLine) -> None:
    await lost(cli, "a")

    done = await cli.run("--data", "second", "--set", f"objects={objects(cli)}", "restore", "--from-store")
    refused = await cli.run("--data", "second", "--set", f"objects={objects(cli)}", "purge")

    assert (done.code, done.out) == (0, "1 body replayed: added 1 entry, revised 0\n")
    assert "--take-ownership" in done.err
    assert (refused.code, "belongs to another database" in refused.err) == (2, True)
    await cli.ok("purge", "--sweep")


async def test_ownership_changes_only_with_an_explicit_option(cli: CommandLine) -> None:
    await lost(cli, "a")
    second = ("--data", "second", "--set", f"objects={objects(cli)}")

    taken = await cli.run(*second, "restore", "--from-store", "--take-ownership")

    assert (taken.code, taken.err) == (0, "the object store belongs to this database now\n")
    await cli.ok(*second, "purge")
    refused = await cli.run("purge")
    assert (refused.code, "--take-ownership" in refused.err) == (2, True)


async def test_a_feed_that_had_a_password_is_named(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a")))
    await cli.ok("add", url.replace("://", "://alice:hunter2-secret@"))
    forget_database(cli)

    done = await cli.run("restore", "--from-store", "--take-ownership")

    assert done.code == 0
    assert f"needs its password again: {url}\n" in done.err


def objects(cli: CommandLine) -> Path:
    return cli.folder / "data" / "objects"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def forget_database(cli: CommandLine) -> None:
    for file in (cli.folder / "data").glob("feedmill.db*"):
        file.unlink()


async def table_sizes(path: Path, *tables: Table) -> list[int]:
    db = SqliteDatabase(path)
    try:
        return [len(await db.query(select(table))) for table in tables]
    finally:
        await db.close()


@pytest.mark.parametrize(
    "args", [(), ("1", "--all"), ("--all", "--since", "yesterday"), ("99",), ("--all", "--take-ownership")]
)
async def test_an_invalid_option_is_refused(cli: CommandLine, args: tuple[str, ...]) -> None:
    done = await cli.run("restore", *args)

    assert (done.code, done.out) == (2, "")
