"""An installation on SQLite and a folder, with a user."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.users.users import add_user
from tests.cli.doctor.findings_of import NOW
from tests.sqlite_template import copy_template


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


@pytest.fixture
async def db(settings: Settings) -> AsyncIterator[Database]:
    """Its database, where Alice is user 1."""
    path = settings.data / "feedmill.db"
    await copy_template(path)
    path.chmod(0o600)
    database = SqliteDatabase(path)
    await add_user(database, "alice", None, True, NOW)
    yield database
    await database.close()
