"""What every release has left behind works with this version: its databases, its backups, its migrations."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from feedmill import __version__
from feedmill.app import App
from feedmill.archive.backup.check import check_backup
from feedmill.archive.backup.load import load_backup
from feedmill.archive.backup.older_backups import closing_database, open_upgraded_copy
from feedmill.library.entries.list_entries import EntryListQuery, EntryView, list_entries
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.library.users.manage_users import find_user
from feedmill.library.users.second_factor import ENCRYPTION_PURPOSE
from feedmill.model.pool import PoolKind
from feedmill.model.user import User
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate, pending_migrations
from feedmill.store.schema import metadata
from feedmill.store.search.index_completeness import is_index_incomplete
from feedmill.store.search.index_missing_entries import index_missing_entries
from feedmill.store.users.two_factor import read_totp_secret
from tests.databases import blank, blank_settings
from tests.releases.database_dumps import KINDS, load_database
from tests.releases.fill_tables import count_rows
from tests.releases.frozen_migrations import FOLDER as MIGRATIONS
from tests.releases.frozen_migrations import file_hash, read_releases, schema_of
from tests.releases.release_data import BACKUPS, FOLDER, read_contents, released_versions, unpack_backup
from tests.releases.scripted_library import START, TITLES, TOTP_SECRET, fill_library, open_library
from tests.store.next_version import next_version
from tests.store.schema_dump import catalog

VERSIONS = released_versions()
# The migration after which PostgreSQL's index is filled anew.
WORDS_IN_ARRAYS = 6
# Rows of the running instance, which a backup leaves out; every start and every version changes them.
OF_THE_INSTANCE = {"locks", "migrations"}
HARBOUR, CHIPS, JAPAN, TIDES = TITLES


@pytest.fixture(params=KINDS)
async def settings(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    async with blank_settings(request, request.param, tmp_path) as reached:
        yield reached


@pytest.mark.parametrize("version", read_releases())
def test_a_released_migration_never_changes(version: str) -> None:
    files = read_releases()[version]

    now = {name: file_hash(MIGRATIONS / name) for name in files if (MIGRATIONS / name).exists()}

    assert now == files, "make a new migration instead: docs/contributing/change-the-schema.md"


def test_a_version_with_new_migrations_is_no_release() -> None:
    """Two schemas would have the same version: see the last step of docs/contributing/release.md."""
    frozen = {file for files in read_releases().values() for file in files}

    new = [path.name for path in MIGRATIONS.glob("*.sql") if path.name not in frozen]

    assert not new or __version__ not in read_releases()


def test_every_release_has_its_data() -> None:
    assert set(VERSIONS) == set(read_releases())


@pytest.mark.parametrize("version", VERSIONS)
def test_no_table_of_a_releases_database_is_empty(version: str) -> None:
    assert [name for name, rows in read_contents(version).items() if not rows] == []


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_database_of_a_release_has_every_table_of_its_schema(tmp_path: Path, version: str) -> None:
    async with closing_database(SqliteDatabase(tmp_path / "feedmill.db")) as db:
        await migrate(db, up_to=schema_of(version))
        tables = await table_names(db)

    assert set(read_contents(version)) == tables


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_database_of_a_release_is_brought_to_the_present(
    settings: dict[str, str], request: pytest.FixtureRequest, tmp_path: Path, version: str
) -> None:
    kind = request.node.callspec.params["settings"]
    await load_database(kind, settings, FOLDER / version)

    async with open_library(settings, tmp_path / "data") as app:
        assert await pending_migrations(app.db) == []
        is_index_replaced = kind == "postgresql" and schema_of(version) < WORDS_IN_ARRAYS
        assert await is_index_incomplete(app.db) == is_index_replaced
        await index_missing_entries(app.db)
        contents = read_library(version)
        assert {name: await count_rows(app.db, metadata.tables[name]) for name in contents} == contents
        await assert_readable(app)
        upgraded = await catalog(app.db)

    async with blank(request, kind, tmp_path) as connect:
        new = connect()
        await migrate(new)
        assert upgraded == await catalog(new)
        await new.close()


@pytest.mark.parametrize("backup", BACKUPS)
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_backup_of_a_release_can_be_loaded(
    settings: dict[str, str], tmp_path: Path, version: str, backup: str
) -> None:
    folder = unpack_backup(version, backup, tmp_path)
    async with open_library(settings, tmp_path / "data") as app:
        loaded = await load_backup(folder, app.db, app.blobs)
        await index_missing_entries(app.db)

        assert (loaded.rows, loaded.orphans, loaded.absent) == (sum(read_library(version).values()), 0, 0)
        await assert_readable(app)
        await assert_image_is_there(app)
    assert (await check_backup(folder))[1] == []


@pytest.mark.parametrize("backup", BACKUPS)
@pytest.mark.parametrize("version", VERSIONS)
async def test_the_rows_of_an_older_backup_are_migrated(tmp_path: Path, version: str, backup: str) -> None:
    folder = unpack_backup(version, backup, tmp_path)

    with next_version():
        async with open_upgraded_copy(folder, schema_of(version)) as db:
            rows = await db.query(
                text("SELECT reading_seconds, duration FROM entries JOIN reading_times ON entry_id = id")
            )

    assert [tuple(row.values()) for row in rows] == [(60, 60)] * read_contents(version)["entries"]


def read_library(version: str) -> dict[str, int]:
    """How many rows each table of the library has."""
    return {name: rows for name, rows in read_contents(version).items() if name not in OF_THE_INSTANCE}


async def table_names(db: SqliteDatabase) -> set[str]:
    return {line.split()[0] for line in await catalog(db)}


async def assert_readable(app: App) -> None:
    """Alice finds her entries, marks, stories and searches, and programs find the items of the pool."""
    alice = await find_user(app.db, "alice")
    assert alice is not None
    assert await titles(app, alice, EntryView.ALL) == [HARBOUR, HARBOUR, CHIPS, JAPAN, TIDES]
    assert await titles(app, alice, EntryView.STARRED) == [CHIPS]
    assert await titles(app, alice, EntryView.LATER) == [JAPAN]
    assert sorted(await titles(app, alice, EntryView.UNREAD)) == sorted([HARBOUR, CHIPS, JAPAN, TIDES])
    for searched, expected in {
        "salt": [CHIPS],
        "港が再開": [JAPAN],
        'label:"To quote"': [JAPAN],
        "evening": [TIDES],
    }.items():
        page = await run_search(app.db, alice.id, SearchRequest(searched, "date"), START)
        assert [item.title for item in page.items] == expected, searched
    items = await app.pools.pop("harbour", PoolKind.TITLES, 10, "a program")
    assert {item.text for item in items} == {HARBOUR}
    secret = await read_totp_secret(app.db, alice.id)
    assert secret is not None
    assert app.tools.encryption.decrypt(secret, ENCRYPTION_PURPOSE) == TOTP_SECRET


async def titles(app: App, user: User, view: EntryView) -> list[str]:
    page = await list_entries(app.db, user.id, EntryListQuery(view), START)
    return [entry.title or "" for entry in page.items]


async def assert_image_is_there(app: App) -> None:
    keys = [blob.key async for blob in app.blobs.list_keys("images/")]
    assert len(keys) == 1
    assert await app.blobs.get(keys[0])


async def test_the_scripted_library_has_a_row_in_every_table(tmp_path: Path) -> None:
    async with open_library({}, tmp_path) as app:
        await fill_library(app)

        assert [each.name for each in metadata.sorted_tables if not await count_rows(app.db, each)] == []
        await assert_readable(app)
