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
from feedmill.cli.output.text import format_size, pluralize
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.errors import DatabaseError
from feedmill.library.archive.backup_status import record_backup, record_backup_check
from feedmill.outbound.fetch_options import ENCRYPTION_PURPOSE
from feedmill.secret_key import key_location
from feedmill.settings import Settings
from feedmill.store.feeds.feeds import feeds_with_http_options


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
        _tell_loaded(*run_with_app(context.quiet_settings, lambda app: _load(app, folder)), as_json)
    else:
        manifest = run_with_app(context.quiet_settings, lambda app: _back_up(app, folder, portable, with_objects))
        _tell_written(folder, manifest, as_json)


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
    """How much was put back, and the feeds whose login can't be decrypted here."""
    loaded = await load_backup(folder, app.db, app.blobs)
    logins = [(feed.url, feed.http_options) for feed in await feeds_with_http_options(app.db)]
    decrypts = app.tools.encryption.can_decrypt
    return loaded, [url for url, options in logins if options and not decrypts(options, ENCRYPTION_PURPOSE)]


async def _check(settings: Settings, folder: Path) -> tuple[Manifest, list[str]]:
    """How the backup is found; written down where it was made of the database here, if that answers."""
    manifest, wrong = await check_backup(folder)
    if database_exists(settings):
        db = open_database(settings)
        try:
            with suppress(DatabaseError):
                await record_backup_check(db, manifest, wrong, datetime.now(UTC))
        finally:
            await db.close()
    return manifest, wrong


def _tell_written(folder: Path, manifest: Manifest, as_json: bool) -> None:
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
        click.echo("the database can't show one moment: what changed meanwhile may be in it or not", err=True)


def _tell_check(manifest: Manifest, wrong: list[str], as_json: bool) -> None:
    if as_json:
        _print({"sound": not wrong, "wrong": wrong, "created_at": manifest.created_at, "objects": manifest.objects})
    else:
        click.echo("\n".join(wrong) or f"sound: made {manifest.created_at}, {pluralize(manifest.objects, 'object')}")
    if wrong:
        raise click.exceptions.Exit(1)


def _tell_loaded(loaded: LoadedBackup, unreadable: list[str], as_json: bool) -> None:
    if as_json:
        _print(asdict(loaded) | {"unreadable": unreadable})
        return
    click.echo(f"put back {pluralize(loaded.rows, 'row')} and {pluralize(loaded.objects, 'object')}")
    if loaded.absent:
        absent = pluralize(loaded.absent, "object is", "objects are")
        click.echo(f"{absent} only listed in the backup: the store must have what is listed", err=True)
    if loaded.orphans:
        click.echo(f"left out, because what they belong to is not in the backup: {pluralize(loaded.orphans, 'row')}")
    for url in unreadable:
        click.echo(f"needs its password again, or the secret key of where the backup was made: {url}", err=True)


def _print(record: dict[str, Any]) -> None:
    click.echo(json.dumps(record, ensure_ascii=False))
