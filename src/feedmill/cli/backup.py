"""`feedmill backup`: create, check or load a backup."""

import asyncio
import json
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from feedmill.adapters.database import database_exists, open_database
from feedmill.app import App
from feedmill.archive.backup.check import check_backup
from feedmill.archive.backup.create import create_backup
from feedmill.archive.backup.file_format import Manifest
from feedmill.archive.backup.load import LoadedBackup, load_backup
from feedmill.cli.output.format_text import format_size, pluralize
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.errors import DatabaseError
from feedmill.library.archive.backup_status import record_backup, record_backup_check
from feedmill.outbound.encrypted_options import ENCRYPTION_PURPOSE
from feedmill.secret_key import key_location
from feedmill.settings import Settings
from feedmill.store.feeds.read_feeds import feeds_with_http_options
from feedmill.store.migrations import check_not_newer


@click.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False))
@click.option("--with-objects", is_flag=True, help="Copy images and raw bodies too, not only a list of them.")
@click.option("--portable", is_flag=True, help="Write the rows of SQLite as JSON lines, as for other databases.")
@click.option("--check", "to_check", is_flag=True, help="Verify a backup against its manifest.")
@click.option(
    "--restore", "to_restore", is_flag=True, help="Load a backup into an empty database and its object store."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def backup(
    context: Context, folder: Path, with_objects: bool, portable: bool, to_check: bool, to_restore: bool, as_json: bool
) -> None:
    """Write a backup into FOLDER, also while a server runs; or --check or --restore one.

    SQLite is copied as a file; other databases are written as JSON lines, which can be loaded into any database. All
    rows are of one moment, except on D1, where a backup may or may not contain changes made while it ran.
    """
    if to_check and to_restore:
        raise click.UsageError("use either --check or --restore")
    if to_check:
        _print_check(*asyncio.run(_check(context.quiet_settings, folder)), as_json)
    elif to_restore:
        _print_loaded(*run_with_app(context.quiet_settings, lambda app: _load(app, folder)), as_json)
    else:
        manifest = run_with_app(context.quiet_settings, lambda app: _back_up(app, folder, portable, with_objects))
        _print_created(folder, manifest, as_json)


async def _back_up(app: App, folder: Path, portable: bool, with_objects: bool) -> Manifest:
    now = datetime.now(UTC)
    manifest = await create_backup(
        app.db,
        app.blobs,
        folder,
        now,
        portable=portable,
        with_objects=with_objects,
        key_location=key_location(app.settings),
    )
    await record_backup(app.db, str(folder.absolute()), manifest, datetime.now(UTC))
    return manifest


async def _load(app: App, folder: Path) -> tuple[LoadedBackup, list[str]]:
    """Loads the backup; returns counts, and the feeds whose login can't be decrypted here."""
    loaded = await load_backup(folder, app.db, app.blobs)
    logins = [(feed.url, feed.http_options) for feed in await feeds_with_http_options(app.db)]
    decrypts = app.tools.encryption.can_decrypt
    return loaded, [url for url, options in logins if options and not decrypts(options, ENCRYPTION_PURPOSE)]


async def _check(settings: Settings, folder: Path) -> tuple[Manifest, list[str]]:
    """Checks the backup; records the result in the database if it is of this database and the database answers."""
    manifest, problems = await check_backup(folder)
    if database_exists(settings):
        db = open_database(settings)
        try:
            with suppress(DatabaseError):
                await check_not_newer(db)
                await record_backup_check(db, manifest, problems, datetime.now(UTC))
        finally:
            await db.close()
    return manifest, [str(problem) for problem in problems]


def _print_created(folder: Path, manifest: Manifest, as_json: bool) -> None:
    if as_json:
        _print(msgspec.to_builtins(manifest))
        return
    size = sum(facts.size for facts in manifest.files.values())
    objects = f"{pluralize(manifest.objects, 'object')} ({format_size(manifest.object_bytes)})"
    copied = "copied" if manifest.with_objects else "listed, not copied (--with-objects copies them)"
    click.echo(f"backed up to {folder}: rows {format_size(size)}, {objects} {copied}")
    if manifest.encrypted_feeds:
        logins = pluralize(manifest.encrypted_feeds, "feed has a login", "feeds have a login")
        click.echo(
            f"{logins} that is encrypted with a key which is not in the backup: keep {manifest.key_location} too",
            err=True,
        )
    if not manifest.consistent:
        click.echo(
            "this database has no snapshots: changes made during the backup may or may not be included", err=True
        )


def _print_check(manifest: Manifest, problems: list[str], as_json: bool) -> None:
    if as_json:
        _print(
            {
                "sound": not problems,
                "problems": problems,
                "created_at": manifest.created_at,
                "objects": manifest.objects,
            }
        )
    else:
        summary = f"intact: made {manifest.created_at}, {pluralize(manifest.objects, 'object')}"
        click.echo("\n".join(problems) or summary)
    if problems:
        raise click.exceptions.Exit(1)


def _print_loaded(loaded: LoadedBackup, unreadable: list[str], as_json: bool) -> None:
    if as_json:
        _print(asdict(loaded) | {"unreadable": unreadable})
        return
    click.echo(f"restored {pluralize(loaded.rows, 'row')} and {pluralize(loaded.objects, 'object')}")
    if loaded.absent:
        absent = pluralize(loaded.absent, "object is", "objects are")
        click.echo(f"{absent} only listed in the backup: the object store must have the objects", err=True)
    if loaded.orphans:
        click.echo(f"left out, because their parent rows are not in the backup: {pluralize(loaded.orphans, 'row')}")
    for url in unreadable:
        click.echo(f"needs its password again, or the secret key from when the backup was made: {url}", err=True)


def _print(record: dict[str, Any]) -> None:
    click.echo(json.dumps(record, ensure_ascii=False))
