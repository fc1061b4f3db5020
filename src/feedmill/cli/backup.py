"""`feedmill backup`: everything in a folder of its own; and is that folder sound; and put it back."""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from feedmill.app import App, has_database, open_database
from feedmill.archive.backup import back_up
from feedmill.archive.backup_check import check_backup
from feedmill.archive.backup_files import Manifest
from feedmill.archive.backup_load import Loaded, load_backup
from feedmill.cli.context import Context, pass_context
from feedmill.cli.say import counted, sized
from feedmill.cli.world import run
from feedmill.errors import DatabaseError
from feedmill.library.backups import note_backup, note_check
from feedmill.settings import Settings


@click.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False))
@click.option("--with-objects", is_flag=True, help="Copy images and raw bodies too, not only their list.")
@click.option("--portable", is_flag=True, help="Write SQLite's rows as text too, as for the other databases.")
@click.option("--check", "to_check", is_flag=True, help="Read a backup and compare it with its manifest.")
@click.option("--restore", "to_restore", is_flag=True, help="Put a backup back into an empty database and its store.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def backup(
    context: Context, folder: Path, with_objects: bool, portable: bool, to_check: bool, to_restore: bool, as_json: bool
) -> None:
    """Write a backup of the whole into FOLDER, while a server runs; or --check or --restore one.

    SQLite is copied as it is; other databases are written as JSON lines, which any database can take back. Rows are
    of one moment, but on D1, where changes made meanwhile may be in it or not.
    """
    if to_check and to_restore:
        raise click.UsageError("--check and --restore are two commands")
    if to_check:
        _tell_check(*asyncio.run(_check(context.quiet_settings, folder)), as_json)
    elif to_restore:
        _tell_loaded(run(context.quiet_settings, lambda app: load_backup(folder, app.db, app.blobs)), as_json)
    else:
        manifest = run(context.quiet_settings, lambda app: _back_up(app, folder, portable, with_objects))
        _tell_written(folder, manifest, as_json)


async def _back_up(app: App, folder: Path, portable: bool, with_objects: bool) -> Manifest:
    now = datetime.now(UTC)
    manifest = await back_up(app.db, app.blobs, folder, now, portable=portable, with_objects=with_objects)
    await note_backup(app.db, str(folder.absolute()), manifest, datetime.now(UTC))
    return manifest


async def _check(settings: Settings, folder: Path) -> tuple[Manifest, list[str]]:
    """How the backup is found; written down where it was made of the database here, if that answers."""
    manifest, wrong = await check_backup(folder)
    if has_database(settings):
        db = open_database(settings)
        try:
            with suppress(DatabaseError):
                await note_check(db, manifest, wrong, datetime.now(UTC))
        finally:
            await db.close()
    return manifest, wrong


def _tell_written(folder: Path, manifest: Manifest, as_json: bool) -> None:
    if as_json:
        _print(msgspec.to_builtins(manifest))
        return
    size = sum(facts.size for facts in manifest.files.values())
    objects = f"{counted(manifest.objects, 'object')} ({sized(manifest.object_bytes)})"
    copied = "copied" if manifest.with_objects else "listed, not copied (--with-objects copies them)"
    click.echo(f"backed up to {folder}: rows {sized(size)}, {objects} {copied}")
    if not manifest.consistent:
        click.echo("the database can't show one moment: what changed meanwhile may be in it or not", err=True)


def _tell_check(manifest: Manifest, wrong: list[str], as_json: bool) -> None:
    if as_json:
        _print({"sound": not wrong, "wrong": wrong, "created_at": manifest.created_at, "objects": manifest.objects})
    else:
        click.echo("\n".join(wrong) or f"sound: made {manifest.created_at}, {counted(manifest.objects, 'object')}")
    if wrong:
        raise click.exceptions.Exit(1)


def _tell_loaded(loaded: Loaded, as_json: bool) -> None:
    if as_json:
        _print({"rows": loaded.rows, "orphans": loaded.orphans, "objects": loaded.objects, "absent": loaded.absent})
        return
    click.echo(f"put back {counted(loaded.rows, 'row')} and {counted(loaded.objects, 'object')}")
    if loaded.absent:
        absent = counted(loaded.absent, "object is", "objects are")
        click.echo(f"{absent} only listed in the backup: the store must have what is listed", err=True)
    if loaded.orphans:
        click.echo(f"left out, because what they belong to is not in the backup: {counted(loaded.orphans, 'row')}")


def _print(record: dict[str, Any]) -> None:
    click.echo(json.dumps(record, ensure_ascii=False))
