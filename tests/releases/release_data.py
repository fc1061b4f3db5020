"""The data of a release in `tests/data/releases/VERSION`: a database of each kind, two backups, and what they hold."""

import json
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from feedmill.app import App
from feedmill.archive.backup.create import create_backup
from feedmill.store.schema import metadata
from tests.releases.database_dumps import dump_database
from tests.releases.fill_tables import count_rows
from tests.releases.scripted_library import START, fill_library, open_library

FOLDER = Path(__file__).parents[1] / "data" / "releases"
# How many rows each table has.
CONTENTS = "contents.json"
# As `feedmill backup --with-objects` writes it: of SQLite a file, with --portable and of other databases rows.
BACKUPS = {"backup-file.tar.xz": False, "backup-rows.tar.xz": True}


def released_versions() -> list[str]:
    return sorted(path.name for path in FOLDER.iterdir()) if FOLDER.exists() else []


def read_contents(version: str) -> dict[str, int]:
    contents: dict[str, int] = json.loads((FOLDER / version / CONTENTS).read_text())
    return contents


async def make_database(kind: str, settings: dict[str, str], folder: Path) -> None:
    """Fills an empty database with the scripted library, and writes its dump; that of SQLite with backups."""
    with TemporaryDirectory() as data:
        async with open_library(settings, Path(data)) as app:
            await fill_library(app)
            if kind == "sqlite":
                contents = {each.name: await count_rows(app.db, each) for each in metadata.sorted_tables}
                (folder / CONTENTS).write_text(json.dumps(contents, indent=1) + "\n")
                await _make_backups(app, folder)
        await dump_database(kind, settings, folder)


async def _make_backups(app: App, folder: Path) -> None:
    for name, portable in BACKUPS.items():
        with TemporaryDirectory() as place:
            backup = Path(place) / "backup"
            await create_backup(app.db, app.blobs, backup, START, portable=portable, with_objects=True)
            with tarfile.open(folder / name, "w:xz") as tar:
                tar.add(backup, "backup", filter=_without_owner)


def _without_owner(file: tarfile.TarInfo) -> tarfile.TarInfo:
    file.uid = file.gid = 0
    file.uname = file.gname = ""
    file.mtime = int(START.timestamp())
    return file


def unpack_backup(version: str, name: str, folder: Path) -> Path:
    """Unpacks a backup of a release into the folder."""
    with tarfile.open(FOLDER / version / name) as tar:
        tar.extractall(folder, filter="data")
    return folder / "backup"
