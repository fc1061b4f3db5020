"""Templates of SQLite databases, migrated and empty or filled: copying is a hundred times as fast as creating."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from feedmill.store.database import Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate

Fill = Callable[[Database], Awaitable[object]]

# The contents of the files, each created by the first test of a worker that needs it.
_templates: dict[Fill, bytes] = {}


async def copy_template(path: Path, fill: Fill = migrate) -> None:
    """Copies a migrated database, filled by `fill`, to this path, unless there is one already."""
    if path.exists():
        return
    if fill not in _templates:
        _templates[fill] = await _make(fill)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_templates[fill])


async def _make(fill: Fill) -> bytes:
    with TemporaryDirectory() as folder:
        database, copy = SqliteDatabase(Path(folder, "feedmill.db")), Path(folder, "copy.db")
        try:
            await migrate(database)
            await fill(database)
            await database.backup(copy)
        finally:
            await database.close()
        return copy.read_bytes()
