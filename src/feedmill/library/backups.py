"""What is known of the last backup: when, how much, and whether somebody has read it since and found it sound."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from feedmill.archive.backup_files import Manifest
from feedmill.model.account import Actor
from feedmill.model.times import from_text
from feedmill.store.audit import write_down
from feedmill.store.database import Database
from feedmill.store.facts import read_fact, steps_to_change

FACT = "backup"
# Of a backup that is older an admin is warned.
OLD = timedelta(days=7)
MOST_WRONG = 20


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """The last backup. `sound` is None until `feedmill backup --check` has read it, `wrong` is what that found."""

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
        """The bytes of the backup itself."""
        return self.row_bytes + (self.object_bytes if self.with_objects else 0)

    def is_old(self, now: datetime) -> bool:
        return now - self.created_at > OLD


async def last_backup(db: Database) -> Backup | None:
    """None when none was ever made of this database."""
    fact = await read_fact(db, FACT)
    return msgspec.json.decode(fact, type=Backup) if fact else None


async def note_backup(db: Database, folder: str, manifest: Manifest, now: datetime) -> None:
    """Writes down that a backup was made."""
    row_bytes = sum(file.size for file in manifest.files.values())
    backup = Backup(
        folder=folder, created_at=from_text(manifest.created_at), row_bytes=row_bytes, objects=manifest.objects,
        object_bytes=manifest.object_bytes, with_objects=manifest.with_objects, consistent=manifest.consistent,
    )  # fmt: skip
    await _note(db, backup, "backup.make", now)


async def note_check(db: Database, manifest: Manifest, wrong: Sequence[str], now: datetime) -> None:
    """Writes down how a backup was found, if it is the last one."""
    last = await last_backup(db)
    if last is not None and last.created_at == from_text(manifest.created_at):
        found = {"checked_at": now, "sound": not wrong, "wrong": tuple(wrong[:MOST_WRONG])}
        await _note(db, msgspec.structs.replace(last, **found), "backup.check", now)


async def _note(db: Database, backup: Backup, action: str, now: datetime) -> None:
    fact = msgspec.json.encode(backup).decode()
    await db.batch([*steps_to_change(FACT, fact), write_down(Actor(), action, backup.folder, now)])
