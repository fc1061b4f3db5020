"""`feedmill check`: test the database, the object store, Redis, disk, clock, permissions and keys."""

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex

import click
from sqlalchemy import func, select

from feedmill.adapters.coordination import ping_redis
from feedmill.adapters.database import open_database
from feedmill.adapters.object_store import open_blobs
from feedmill.cli.output.format_text import pluralize
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.data_permissions import EVERYBODY_MASK, permission_fix, readable_by_others
from feedmill.collect.declared.feeds_file import find_feeds_file, read_declarations
from feedmill.collect.declared.feeds_file_paths import feeds_file_pattern
from feedmill.encryption import Encryption
from feedmill.errors import BadSetting, CallerError, DatabaseError, FeedmillError
from feedmill.library.users.second_factor import ENCRYPTION_PURPOSE as SECOND_FACTOR_PURPOSE
from feedmill.model.encrypted import Encrypted
from feedmill.outbound.encrypted_options import ENCRYPTION_PURPOSE
from feedmill.secret_key import key_location
from feedmill.settings import Settings
from feedmill.store.admin.database_check import database_time, missing_tables
from feedmill.store.database import Step
from feedmill.store.dialect import insert_new
from feedmill.store.feeds.declared_feeds import count_declared_feeds
from feedmill.store.feeds.read_feeds import feeds_with_http_options
from feedmill.store.migrations import pending_migrations
from feedmill.store.schema import feeds, instance_state
from feedmill.store.users.two_factor import all_totp_secrets

MIN_FREE_BYTES = 500_000_000
# A correct clock can't show a time before this code was written.
EARLIEST_CLOCK = datetime(2026, 1, 1, tzinfo=UTC)
CHECK_TIMEOUT = 15
# Claims and leases last minutes; S3 refuses requests that are 15 minutes off.
MAX_CLOCK_SKEW = timedelta(seconds=30)


class CheckFailed(CallerError):
    """A part of the installation does not work; the message says which and why."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def check(context: Context, as_json: bool) -> None:
    """Test the database, the object store, Redis, disk, clock, permissions, declared feeds and secret key."""
    results = asyncio.run(_check_all(context.settings))
    if as_json:
        click.echo(json.dumps({name: {"ok": ok, "detail": detail} for name, (ok, detail) in results.items()}))
    else:
        for name, (ok, detail) in results.items():
            click.echo(f"{click.style('ok  ', fg='green') if ok else click.style('FAIL', fg='red')} {name}: {detail}")
    if not all(ok for ok, _ in results.values()):
        raise click.exceptions.Exit(1)


async def _check_all(settings: Settings) -> dict[str, tuple[bool, str]]:
    checks: dict[str, Callable[[Settings], Awaitable[str]]] = {
        "database": _database,
        "objects": _objects,
        "redis": _redis,
        "disk": _disk,
        "clock": _clock,
        "permissions": _permissions,
        "feeds_file": _feeds_file,
        "secret_key": _secret_key,
    }
    return {name: await _try(work, settings) for name, work in checks.items()}


async def _try(work: Callable[[Settings], Awaitable[str]], settings: Settings) -> tuple[bool, str]:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT):
            return True, await work(settings)
    except TimeoutError:
        return False, f"no answer within {CHECK_TIMEOUT} s"
    except FeedmillError as error:
        return False, str(error)


async def _database(settings: Settings) -> str:
    db = open_database(settings)
    try:
        if waiting := await pending_migrations(db):
            return f"answers; {len(waiting)} migrations to run ('feedmill migrate', or serve does it)"
        if missing := await missing_tables(db):
            raise CheckFailed(
                f"it lacks the tables {', '.join(missing)}, though its migrations are done: load a backup"
            )
        probe = {"name": "check", "value": token_hex(8)}
        await db.batch(
            [
                Step(insert_new(instance_state, "name", "value"), probe),
                Step(instance_state.delete().where(instance_state.c.name == "check")),
            ]
        )
        [row] = await db.query(select(func.count().label("feeds")).select_from(feeds))
        return f"reads and writes ({db.dialect_name}, {pluralize(row['feeds'], 'feed')})"
    finally:
        await db.close()


async def _objects(settings: Settings) -> str:
    blobs, key, data = open_blobs(settings), f"check/{token_hex(8)}", token_hex(16).encode()
    await blobs.put(key, data, "text/plain")
    kept = await blobs.get(key)
    await blobs.delete_many([key])
    if kept != data:
        raise CheckFailed("an object that was read differs from what was written")
    return "keeps, reads and deletes"


async def _redis(settings: Settings) -> str:
    if not settings.redis.get_secret_value():
        return "not used (setting redis is empty)"
    started = time.perf_counter()
    await ping_redis(settings)
    return f"answers in {(time.perf_counter() - started) * 1000:.0f} ms"


async def _disk(settings: Settings) -> str:
    folder = next(place for place in (settings.data, *settings.data.absolute().parents, Path("/")) if place.exists())
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        raise CheckFailed(f"only {free // 1_000_000} MB free in {folder}")
    return f"{free // 1_000_000_000} GB free in {folder}"


async def _permissions(settings: Settings) -> str:
    wide = readable_by_others(settings)
    if any(mode & EVERYBODY_MASK for mode in wide.values()):
        raise CheckFailed(f"every user of this machine can read private data: {permission_fix(wide)}")
    if wide:
        return f"a group can read {', '.join(str(path) for path in wide)}; other users can't"
    return "only its own user can read private data"


async def _clock(settings: Settings) -> str:
    now = datetime.now(UTC)
    if now < EARLIEST_CLOCK:
        raise CheckFailed(f"this machine's clock says {now:%Y-%m-%d %H:%M} UTC, which is in the past: correct it")
    compared = []
    for name, ask in (("database", _database_time), ("object store", _store_time)):
        try:
            ahead = datetime.now(UTC) - await ask(settings)
        except FeedmillError:
            continue  # its own check reports why
        if abs(ahead) > MAX_CLOCK_SKEW:
            word = "ahead of" if ahead > timedelta() else "behind"
            raise CheckFailed(f"this machine's clock is {abs(ahead).total_seconds():.0f} s {word} that of the {name}")
        compared.append(name)
    agreeing = f", the same as the {' and the '.join(compared)}" if compared else ""
    return f"{now:%Y-%m-%d %H:%M:%S} UTC{agreeing}"


async def _database_time(settings: Settings) -> datetime:
    db = open_database(settings)
    try:
        return await database_time(db)
    finally:
        await db.close()


async def _store_time(settings: Settings) -> datetime:
    blobs, prefix = open_blobs(settings), f"check/{token_hex(8)}/"
    await blobs.put(f"{prefix}clock", b"", "text/plain")
    [blob] = [blob async for blob in blobs.list_keys(prefix)]
    await blobs.delete_many([blob.key])
    return blob.modified_at


async def _feeds_file(settings: Settings) -> str:
    file = find_feeds_file(settings.feeds_file, settings.data)
    if file is None:
        return await _no_feeds_file(settings)
    return f"{file} declares {pluralize(len(read_declarations(file)), 'feed')}"


async def _no_feeds_file(settings: Settings) -> str:
    try:
        count = await _declared_feeds(settings)
    except (DatabaseError, BadSetting):
        return "none"  # the check of the database reports why
    if count:
        were = pluralize(count, "feed was", "feeds were")
        missing = f"{feeds_file_pattern(settings.data)} is missing, in which {were} declared"
        raise CheckFailed(f"{missing}: put it back, or write feeds: [] into it")
    return "none, so no feeds are declared"


async def _declared_feeds(settings: Settings) -> int:
    db = open_database(settings)
    try:
        return 0 if await pending_migrations(db) else await count_declared_feeds(db)
    finally:
        await db.close()


async def _secret_key(settings: Settings) -> str:
    """Whether the logins of feeds and the secrets of second factors can be decrypted."""
    encryption = Encryption.of(settings)
    try:
        logins, factors = await _secrets(settings)
    except (DatabaseError, BadSetting):
        return "not known without the database"
    _check_second_factors(settings, encryption, factors)
    unreadable = sum(1 for login in logins if not encryption.can_decrypt(login, ENCRYPTION_PURPOSE))
    if unreadable:
        have = pluralize(unreadable, "feed has a login", "feeds have a login")
        where = f"{key_location(settings)} does not decrypt: put the right key there, or into old_secret_keys"
        raise CheckFailed(f"{have} that {where}")
    return f"decrypts the logins of {pluralize(len(logins), 'feed')}" if logins else "no feed has a login"


def _check_second_factors(settings: Settings, encryption: Encryption, factors: Sequence[Encrypted]) -> None:
    unreadable = sum(1 for secret in factors if not encryption.can_decrypt(secret, SECOND_FACTOR_PURPOSE))
    if unreadable:
        have = pluralize(unreadable, "user has a second factor", "users have a second factor")
        raise CheckFailed(
            f"{have} that {key_location(settings)} does not decrypt: put the right key there, or into old_secret_keys;"
            " until then recovery codes work, and 'feedmill user two-factor-off NAME'"
        )


async def _secrets(settings: Settings) -> tuple[list[Encrypted], list[Encrypted]]:
    """The logins of feeds, and the secrets of second factors."""
    db = open_database(settings)
    try:
        if await pending_migrations(db):
            return [], []
        feeds = await feeds_with_http_options(db)
        return [feed.http_options for feed in feeds if feed.http_options], await all_totp_secrets(db)
    finally:
        await db.close()
