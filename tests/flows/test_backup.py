"""A complete backup, its check, and its restore elsewhere."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from sqlalchemy import Table

from feedmill.archive.backup import create
from feedmill.archive.backup.check import check_backup
from feedmill.archive.backup.create import BadDestination, create_backup
from feedmill.archive.backup.file_format import BadBackup, Manifest, read_lines
from feedmill.archive.backup.load import load_backup
from feedmill.archive.backup.older_backups import closing_database
from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.files import FolderBlobs
from feedmill.archive.store_ownership import ensure_store_ownership
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.database_load import DatabaseNotEmpty
from feedmill.store.archive.database_snapshot import TABLES, SnapshotReader, read_table
from feedmill.store.database import Database, Row
from feedmill.store.drivers.d1 import D1Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations.running_processes import add_process, count_processes
from feedmill.store.schema import entries, feeds, folders, states
from feedmill.store.search.index_completeness import INDEX_INCOMPLETE
from tests.databases import emptied
from tests.flows.deployments import DEPLOYMENTS, ArchiveEnvironment, open_deployment, open_objects
from tests.flows.refresh_environment import HOUR, answer, item

TARGETS = {"into SQLite": ("sqlite", "folder"), "into PostgreSQL": ("postgresql", "s3"), "into D1": ("d1", "s3")}


@pytest.fixture(params=DEPLOYMENTS)
async def deployed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveEnvironment]:
    async with open_deployment(request, request.param, tmp_path) as made:
        await fill(made)
        yield made


@pytest.fixture
async def env(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveEnvironment]:
    async with open_deployment(request, "one machine", tmp_path) as made:
        await fill(made)
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "backup"


async def fill(env: ArchiveEnvironment) -> None:
    """Some of everything: a feed with revisions and odd texts, a reader with marks."""
    feed = await env.add("/feed", answer(item("a", "one"), item("日本 🦊", '"quoted" \\ and \u2028')))
    alice = await env.user("Alice", 11)
    await env.subscribe(alice, feed)
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(item("a", "two")))
    [entry] = await env.rows(entries, title="a")
    await env.put(states, user_id=alice, entry_id=entry["id"], starred_at=to_iso(env.now))
    await env.put(folders, user_id=alice, name="News")
    await ensure_store_ownership(env.db, env.blobs)
    await repair_descriptors(env.db, env.blobs, env.now)


async def write(env: ArchiveEnvironment, folder: Path, portable: bool = False, with_objects: bool = True) -> Manifest:
    return await create_backup(env.db, env.blobs, folder, env.now, portable=portable, with_objects=with_objects)


async def everything(db: Database) -> dict[str, list[Any]]:
    """All rows, but for the note that a search index is not complete."""
    rows = {table.name: [row async for page in read_table(db, table) for row in page] for table in TABLES}
    state = [row for row in rows["instance_state"] if row["name"] != INDEX_INCOMPLETE]
    return rows | {"instance_state": state}


async def test_a_backup_put_back_is_the_same_rows_and_objects(
    deployed: ArchiveEnvironment, folder: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    before, keys = await everything(deployed.db), await deployed.keys()

    manifest = await write(deployed, folder)

    assert await check_backup(folder) == (manifest, [])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with emptied(request, "sqlite", elsewhere) as db:
        blobs = FolderBlobs(elsewhere / "objects")
        loaded = await load_backup(folder, db, blobs)
        assert await everything(db) == before
        assert sorted([blob.key async for blob in blobs.list_keys("")]) == keys
    assert (loaded.rows, loaded.orphans, loaded.objects) == (sum(map(len, before.values())), 0, manifest.objects)
    # Reading it changed nothing in it.
    assert await check_backup(folder) == (manifest, [])


async def test_a_backup_has_no_lock_of_a_process_that_runs(env: ArchiveEnvironment, folder: Path) -> None:
    await add_process(env.db, "serve", env.now)

    await write(env, folder)

    async with closing_database(SqliteDatabase(folder / "feedmill.db")) as copy:
        assert await count_processes(copy) == 0
    assert await count_processes(env.db) == 1


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("target", TARGETS)
async def test_a_backup_of_sqlite_moves_to_any_place(
    env: ArchiveEnvironment, folder: Path, request: pytest.FixtureRequest, tmp_path: Path, target: str, portable: bool
) -> None:
    await write(env, folder, portable)
    database, objects = TARGETS[target]
    before = await everything(env.db)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    async with emptied(request, database, elsewhere) as db:
        blobs = open_objects(request, objects, elsewhere)
        await load_backup(folder, db, blobs)

        assert await everything(db) == before
        moved = ArchiveEnvironment(db, blobs, env.client, env.web, now=env.now)
        feed = await moved.add("/feed")
        # It goes on from there: nothing twice, numbers that are free, raw bodies at hand.
        await moved.later(HOUR, feed, answer(item("a", "two"), item("new")))
        assert await moved.titles() == [*(row["title"] for row in before["entries"]), "new"]
        assert (await moved.restore()).added == 0


async def test_a_backup_is_of_one_moment_although_others_write(
    deployed: ArchiveEnvironment, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read_while_others_write(reader: SnapshotReader, table: Table) -> AsyncIterator[list[Row]]:
        feed = await deployed.add(f"/{token_hex(4)}")
        bare = dict.fromkeys(("sort_at", "refresh_token", "digest", "first_seen_at", "last_seen_at"), "x")
        await deployed.put(entries, feed_id=feed.id, guid="g", **bare)
        async for page in read_table(reader, table):
            yield page

    monkeypatch.setattr(create, "read_table", read_while_others_write)
    manifest = await write(deployed, folder, portable=True)

    kept_feeds, kept_entries = read_rows(folder, "feeds"), read_rows(folder, "entries")
    orphans = {entry["feed_id"] for entry in kept_entries} - {feed["id"] for feed in kept_feeds}
    # D1 has no moment that stands still, and the manifest says so.
    assert manifest.consistent is not isinstance(deployed.db, D1Database)
    assert manifest.consistent is not bool(orphans)
    assert (await check_backup(folder))[1] == []


def read_rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return [row for chunk in read_lines(folder / "rows" / f"{table}.jsonl.gz", dict, 100) for row in chunk]


async def test_a_listed_object_is_counted_and_not_copied_unless_asked(env: ArchiveEnvironment, folder: Path) -> None:
    manifest = await write(env, folder, with_objects=False)

    assert (manifest.objects, manifest.with_objects) == (4, False)
    assert not (folder / "objects").exists()
    assert await check_backup(folder) == (manifest, [])


DAMAGE = {
    "a byte of the database": (
        "feedmill.db",
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
        "feedmill.db",
    ),
    "a list that is gone": ("objects.jsonl.gz", Path.unlink, "objects.jsonl.gz"),
    "an object that is gone": ("objects/backups/**/*.xml", Path.unlink, "is missing"),
    "an object that is cut": ("objects/backups/**/*.xml", lambda path: path.write_bytes(b"<rss"), "bytes"),
    "an object that was changed": (
        "objects/backups/**/*.xml",
        lambda path: path.write_bytes(path.read_bytes()[::-1]),
        "other content",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_damage_is_found(env: ArchiveEnvironment, folder: Path, damage: str) -> None:
    await write(env, folder)
    pattern, break_it, said = DAMAGE[damage]
    break_it(sorted(folder.glob(pattern))[0])

    _, [problem] = await check_backup(folder)

    assert said in str(problem)


async def test_a_backup_that_was_not_finished_is_none(env: ArchiveEnvironment, folder: Path) -> None:
    await write(env, folder)
    (folder / "manifest.json").unlink()

    with pytest.raises(BadBackup):
        await check_backup(folder)
    with pytest.raises(BadBackup):
        await load_backup(folder, env.db, env.blobs)


async def test_a_backup_overwrites_nothing(env: ArchiveEnvironment, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")

    with pytest.raises(BadDestination):
        await write(env, folder)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


async def test_a_database_with_something_in_it_is_not_loaded_into(env: ArchiveEnvironment, folder: Path) -> None:
    await write(env, folder)
    before = await everything(env.db)

    with pytest.raises(DatabaseNotEmpty):
        await load_backup(folder, env.db, env.blobs)
    assert await everything(env.db) == before


async def test_a_load_that_was_cut_off_goes_on(
    env: ArchiveEnvironment,
    folder: Path,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await write(env, folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with emptied(request, "sqlite", elsewhere) as db:
        with monkeypatch.context() as broken:
            broken.setattr(FolderBlobs, "put", _fail)
            with pytest.raises(OSError, match="cut off"):
                await load_backup(folder, db, FolderBlobs(elsewhere / "objects"))

        await load_backup(folder, db, FolderBlobs(elsewhere / "objects"))

        assert await everything(db) == await everything(env.db)


async def _fail(*args: object) -> None:
    raise OSError("cut off")


async def test_rows_whose_owner_is_missing_are_left_out_and_reported(
    env: ArchiveEnvironment, folder: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """As a backup of D1 may have them, where no moment stands still."""
    await write(env, folder, portable=True)
    (folder / "rows" / f"{feeds.name}.jsonl.gz").write_bytes(b"")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    async with emptied(request, "sqlite", elsewhere) as db:
        loaded = await load_backup(folder, db, FolderBlobs(elsewhere / "objects"))
        there = await everything(db)

    assert loaded.orphans > 0
    assert (there["entries"], len(there["users"])) == ([], 1)


@pytest.mark.parametrize(
    ("newer", "words"),
    [
        ({"schema_version": 999, "feedmill": "9.9.0"}, r"9\.9\.0 \(schema 999\).*load it with 9\.9\.0 or later"),
        ({"format": 2, "feedmill": "9.9.0", "files": "of another form"}, r"in format 2.*use 9\.9\.0 or later"),
    ],
)
async def test_a_backup_of_a_newer_version_is_refused_in_one_line(
    env: ArchiveEnvironment,
    folder: Path,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    newer: dict[str, Any],
    words: str,
) -> None:
    await write(env, folder)
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | newer))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    async with emptied(request, "sqlite", elsewhere) as db:
        with pytest.raises(BadBackup, match=words) as refused:
            await load_backup(folder, db, FolderBlobs(elsewhere / "objects"))

        assert "\n" not in str(refused.value)
        assert await db.query(feeds.select()) == []
