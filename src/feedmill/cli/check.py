"""`feedmill check`: is my set-up sound?"""

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex

import click
import redis.asyncio
from redis.exceptions import RedisError
from sqlalchemy import func, select

from feedmill.app import open_blobs, open_database
from feedmill.cli.context import Context, pass_context
from feedmill.cli.say import counted
from feedmill.collect.declared_file import find_file, read_declarations
from feedmill.errors import CallerError, FeedmillError
from feedmill.settings import Settings
from feedmill.store.database import Step
from feedmill.store.dialect import insert_new
from feedmill.store.health import database_time, missing_tables
from feedmill.store.migrations import pending
from feedmill.store.schema import facts, feeds

LEAST_FREE_BYTES = 500_000_000
# No clock that is right shows a time before this code was written.
WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)
PATIENCE = 15
# Claims and leases are good for minutes; S3 refuses a quarter of an hour.
MOST_APART = timedelta(seconds=30)


class Unsound(CallerError):
    """A part of the set-up does not work; the text says which and why."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def check(context: Context, as_json: bool) -> None:
    """Try the database, the object store, Redis, the disk, the clock and the file of declared feeds."""
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
        "database": _database, "objects": _objects, "redis": _redis, "disk": _disk, "clock": _clock,
        "feeds_file": _feeds_file,
    }  # fmt: skip
    return {name: await _try(work, settings) for name, work in checks.items()}


async def _try(work: Callable[[Settings], Awaitable[str]], settings: Settings) -> tuple[bool, str]:
    try:
        async with asyncio.timeout(PATIENCE):
            return True, await work(settings)
    except TimeoutError:
        return False, f"no answer within {PATIENCE} s"
    except FeedmillError as error:
        return False, str(error)


async def _database(settings: Settings) -> str:
    db = open_database(settings)
    try:
        if waiting := await pending(db):
            return f"answers; {len(waiting)} migrations to run ('feedmill migrate', or serve does it)"
        if missing := await missing_tables(db):
            raise Unsound(f"it lacks the tables {', '.join(missing)}, though its migrations are done: load a backup")
        probe = {"name": "check", "value": token_hex(8)}
        await db.batch(
            [Step(insert_new(facts, "name", "value"), probe), Step(facts.delete().where(facts.c.name == "check"))]
        )
        [row] = await db.query(select(func.count().label("feeds")).select_from(feeds))
        return f"reads and writes ({db.dialect_name}, {counted(row['feeds'], 'feed')})"
    finally:
        await db.close()


async def _objects(settings: Settings) -> str:
    blobs, key, data = open_blobs(settings), f"check/{token_hex(8)}", token_hex(16).encode()
    await blobs.put(key, data, "text/plain")
    kept = await blobs.get(key)
    await blobs.delete_many([key])
    if kept != data:
        raise Unsound("what was read is not what was written")
    return "keeps, reads and deletes"


async def _redis(settings: Settings) -> str:
    url = settings.redis.get_secret_value()
    if not url:
        return "not used (setting redis is empty)"
    try:
        client = redis.asyncio.from_url(url, socket_connect_timeout=5, socket_timeout=5)
        started = time.perf_counter()
        await client.ping()
        await client.aclose()
    except (RedisError, OSError, ValueError) as error:
        raise Unsound(f"Redis can't be used: {error}") from error
    return f"answers in {(time.perf_counter() - started) * 1000:.0f} ms"


async def _disk(settings: Settings) -> str:
    folder = next(place for place in (settings.data, *settings.data.absolute().parents, Path("/")) if place.exists())
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        raise Unsound(f"only {free // 1_000_000} MB free in {folder}")
    return f"{free // 1_000_000_000} GB free in {folder}"


async def _clock(settings: Settings) -> str:
    now = datetime.now(UTC)
    if now < WRITTEN:
        raise Unsound(f"this machine's clock says {now:%Y-%m-%d %H:%M} UTC, which is in the past: set it right")
    asked = []
    for name, ask in (("database", _database_time), ("object store", _store_time)):
        try:
            ahead = datetime.now(UTC) - await ask(settings)
        except FeedmillError:
            continue  # a check of its own says why
        if abs(ahead) > MOST_APART:
            word = "ahead of" if ahead > timedelta() else "behind"
            raise Unsound(f"this machine's clock is {abs(ahead).total_seconds():.0f} s {word} that of the {name}")
        asked.append(name)
    agreeing = f", and so say the {' and the '.join(asked)}" if asked else ""
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
    file = find_file(settings.feeds_file, settings.data)
    if file is None:
        return "none, so no feeds are declared"
    return f"{file} declares {counted(len(read_declarations(file)), 'feed')}"
