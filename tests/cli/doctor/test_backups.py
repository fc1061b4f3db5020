"""Findings about the last backup."""

from datetime import timedelta

import msgspec

from feedmill.library.archive.backup_status import SETTING_NAME, BackupStatus
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.instance_state import set_instance_value
from tests.cli.doctor.findings_of import NOW, findings_of, is_error, is_warning


async def _record(db: Database, age: timedelta, sound: bool | None = None) -> None:
    backup = BackupStatus(
        folder="/srv/backup",
        created_at=NOW - age,
        row_bytes=1,
        objects=0,
        object_bytes=0,
        with_objects=True,
        consistent=True,
        sound=sound,
    )
    await set_instance_value(db, SETTING_NAME, msgspec.json.encode(backup).decode())


async def test_a_recent_backup_is_fine(settings: Settings, db: Database) -> None:
    await _record(db, timedelta(days=1), sound=True)

    assert "backup_ok" in await findings_of(settings)


async def test_no_backup_or_an_old_one_is_a_warning(settings: Settings, db: Database) -> None:
    none = await findings_of(settings)
    await _record(db, timedelta(days=10))

    assert is_warning(none, "backup_none", "feedmill backup --with-objects")
    assert is_warning(await findings_of(settings), "backup_old", "/srv/backup", "10 days")


async def test_a_damaged_backup_is_an_error(settings: Settings, db: Database) -> None:
    await _record(db, timedelta(days=1), sound=False)

    assert is_error(await findings_of(settings), "backup_damaged", "feedmill backup --check")
