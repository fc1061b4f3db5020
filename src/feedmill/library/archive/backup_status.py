"""Records when the last backup was made, and the result of its last check."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from feedmill.archive.backup.file_format import Manifest
from feedmill.i18n.messages import Message, message_from_stored, message_to_stored
from feedmill.model.timestamps import from_iso
from feedmill.model.user import Actor
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database
from feedmill.store.instance_state import read_instance_value, steps_to_set_instance_value

SETTING_NAME = "backup"
# An older backup is shown with a warning.
WARNING_AGE = timedelta(days=7)
MAX_PROBLEMS = 20


class BackupStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The last backup. `sound` is None until `feedmill backup --check` has run; `wrong` has the stored problems."""

    folder: str
    created_at: datetime
    row_bytes: int
    objects: int
    object_bytes: int
    with_objects: bool
    consistent: bool
    checked_at: datetime | None = None
    sound: bool | None = None
    wrong: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The size of the backup in bytes."""
        return self.row_bytes + (self.object_bytes if self.with_objects else 0)

    @property
    def problems(self) -> list[Message]:
        """The problems that the check found."""
        return [message_from_stored(problem) for problem in self.wrong]

    def is_old(self, now: datetime) -> bool:
        return now - self.created_at > WARNING_AGE


async def last_backup(db: Database) -> BackupStatus | None:
    """The last backup of this database; None if there is none."""
    stored = await read_instance_value(db, SETTING_NAME)
    return msgspec.json.decode(stored, type=BackupStatus) if stored else None


async def record_backup(db: Database, folder: str, manifest: Manifest, now: datetime) -> None:
    """Records a backup."""
    row_bytes = sum(file.size for file in manifest.files.values())
    backup = BackupStatus(
        folder=folder,
        created_at=from_iso(manifest.created_at),
        row_bytes=row_bytes,
        objects=manifest.objects,
        object_bytes=manifest.object_bytes,
        with_objects=manifest.with_objects,
        consistent=manifest.consistent,
    )
    await _save(db, backup, "backup.make", now)


async def record_backup_check(db: Database, manifest: Manifest, problems: Sequence[Message], now: datetime) -> None:
    """Records the result of a check, if the backup is the last one."""
    last = await last_backup(db)
    if last is not None and last.created_at == from_iso(manifest.created_at):
        wrong = tuple(message_to_stored(problem) for problem in problems[:MAX_PROBLEMS])
        found = {"checked_at": now, "sound": not problems, "wrong": wrong}
        await _save(db, msgspec.structs.replace(last, **found), "backup.check", now)


async def _save(db: Database, backup: BackupStatus, action: str, now: datetime) -> None:
    stored = msgspec.json.encode(backup).decode()
    await db.batch(
        [*steps_to_set_instance_value(SETTING_NAME, stored), step_to_audit(Actor(), action, backup.folder, now)]
    )
