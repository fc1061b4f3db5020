"""Checks the object store: it keeps, reads and deletes, belongs to this database, and has space for images."""

from collections.abc import AsyncIterator
from pathlib import Path
from secrets import token_hex

from feedmill.adapters.object_store import object_store_config, open_blobs
from feedmill.archive.blobs import Blobs
from feedmill.archive.object_store_config import FolderConfig
from feedmill.archive.store_ownership import owns_store, read_owner
from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.cli.doctor.owners import command_to_create, owner_of
from feedmill.cli.doctor.storage import nearest_folder
from feedmill.cli.output.format_text import format_size
from feedmill.errors import FeedmillError
from feedmill.i18n.messages import Message
from feedmill.optional_imports import MissingExtra
from feedmill.settings import Settings
from feedmill.store.admin.failure_counts import image_bytes


async def check_objects(context: CheckContext) -> AsyncIterator[Finding]:
    if folder := _missing_folder(context.settings):
        yield _judge_missing(folder, context.settings)
        return
    try:
        is_same = await _write_and_read(open_blobs(context.settings))
    except MissingExtra as problem:
        yield error(Message("doctor.extra_missing", reason=problem.message), Message("doctor.extra_missing_help"))
        return
    except FeedmillError as problem:
        yield error(Message("doctor.objects_unusable", reason=problem.message), Message("doctor.objects_unusable_help"))
        return
    if is_same:
        yield ok(Message("doctor.objects_ok"))
    else:
        yield error(Message("doctor.objects_differ"), Message("doctor.objects_differ_help"))


def _missing_folder(settings: Settings) -> Path | None:
    """The folder of objects, if it is not there yet: to write into it would create it, perhaps for another user."""
    place = object_store_config(settings)
    if not isinstance(place, FolderConfig):
        return None
    folder = place.folder.absolute()
    return folder if nearest_folder(folder) != folder else None


def _judge_missing(folder: Path, settings: Settings) -> Finding:
    if not settings.objects:
        return ok(Message("doctor.objects_new"))
    command = command_to_create(folder, owner_of(settings.data))
    return warning(
        Message("doctor.objects_not_there", folder=str(folder)),
        Message("doctor.objects_not_there_help", command=command),
    )


async def _write_and_read(blobs: Blobs) -> bool:
    """Whether an object is read as it was written; it is deleted again."""
    key, data = f"check/{token_hex(8)}", token_hex(16).encode()
    await blobs.put(key, data, "text/plain")
    kept = await blobs.get(key)
    await blobs.delete_many([key])
    return kept == data


async def check_store_owner(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None or _missing_folder(context.settings):
        return
    try:
        blobs = open_blobs(context.settings)
        is_foreign = await read_owner(blobs) is not None and not await owns_store(context.db, blobs)
    except FeedmillError:
        return  # the check above reports why
    if is_foreign:
        yield error(Message("doctor.store_of_another_database"), Message("doctor.store_of_another_database_help"))


async def check_image_limit(context: CheckContext) -> AsyncIterator[Finding]:
    limit = context.settings.images_total_bytes
    if limit and context.db is not None and await image_bytes(context.db) >= limit:
        text = Message("doctor.image_limit_reached", limit=format_size(limit))
        yield warning(text, Message("doctor.image_limit_reached_help"))
