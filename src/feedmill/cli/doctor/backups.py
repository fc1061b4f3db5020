"""Checks the last backup: when it was made, and whether it was intact when it was checked."""

from collections.abc import AsyncIterator

from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.i18n.messages import Message
from feedmill.library.archive.backup_status import last_backup


async def check_backups(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    backup = await last_backup(context.db)
    if backup is None:
        yield warning(Message("doctor.backup_none"), Message("doctor.backup_none_help"))
        return
    folder = backup.folder
    if backup.sound is False:
        yield error(Message("doctor.backup_damaged", folder=folder), Message("doctor.backup_damaged_help"))
    elif backup.is_old(context.now):
        age = context.now - backup.created_at
        yield warning(Message("doctor.backup_old", folder=folder, age=age), Message("doctor.backup_old_help"))
    else:
        yield ok(Message("doctor.backup_ok", folder=folder, at=backup.created_at))
