"""A process that fills pools, puts texts in or takes items, and logs the id of each item that it takes."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from feedmill.adapters.database import open_database
from feedmill.coordination.pool_queues import pool_list_name, used_ids_name
from feedmill.coordination.redis_pool_queues import connect_without_retry
from feedmill.logs import set_up
from feedmill.model.pool import PoolItem, PoolKind, PoolText
from feedmill.open_pools import open_pools
from feedmill.pools import consumer as consumer_module
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.service import PoolService
from feedmill.settings import Settings, load_settings
from feedmill.store.database import Database
from feedmill.store.drivers.postgres import PostgresDatabase
from tests.waiting import slow_pace

GROUP = "drill"
CHUNK_SIZE = 20
# How many texts a sender puts in with one call.
SENT_AT_ONCE = 250
TEND_EVERY = timedelta(seconds=0.1)
# Shorter than in earnest, so that what killed workers leave is found while the test runs.
AUDIT_EVERY = timedelta(seconds=2)
MIN_QUEUED_AGE = timedelta(seconds=10)
PREFETCH_LEASE = timedelta(seconds=5)
REST = 0.05
# Without a pause this consumer would leave nothing to the others.
THINK = 0.02


@dataclass(frozen=True)
class PoolWorkerJob:
    """What a process does. One that takes the place of a killed process does the same under another name."""

    role: str
    group_id: int
    settings: dict[str, str]
    place: int
    # How many texts a sender puts in.
    texts: int = 0
    name: str = ""
    log: str = ""


class HandedOutLog:
    """The ids of what was handed out, in a file that outlives a kill."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def take(self, ids: list[int]) -> None:
        os.write(self._file, "".join(f"{id}\n" for id in ids).encode())


Role = Callable[[PoolService, PoolWorkerJob, HandedOutLog, asyncio.Event], Coroutine[Any, Any, None]]


def run_worker(job: PoolWorkerJob) -> None:
    """Runs until it is asked to stop, or killed."""
    asyncio.run(_run_worker(job))


async def _run_worker(job: PoolWorkerJob) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    settings = load_settings(**job.settings, log_level="error")
    set_up(settings)
    db = _open_database(settings)
    async with open_pools(settings, db) as pools:
        await ROLES[job.role](pools, job, HandedOutLog(job.log), stop)
    await db.close()


def _open_database(settings: Settings) -> Database:
    """The database, with few connections to a server: each process has its own."""
    if settings.database.startswith("postgresql"):
        return PostgresDatabase(settings.database, pool_size=3)
    return open_database(settings)


async def _fill(pools: PoolService, job: PoolWorkerJob, handed_out: HandedOutLog, stop: asyncio.Event) -> None:
    assert pools.maintainer.audit is not None
    pools.maintainer.every, pools.maintainer.audit_every = TEND_EVERY, AUDIT_EVERY
    pools.maintainer.audit.min_age = MIN_QUEUED_AGE
    tending = asyncio.create_task(pools.maintainer.run())
    await stop.wait()
    tending.cancel()


async def _send(pools: PoolService, job: PoolWorkerJob, handed_out: HandedOutLog, stop: asyncio.Event) -> None:
    """Puts its texts in, from the first one on: whoever was killed does not know how far it came."""
    texts = [PoolText(f"{job.place}-{n}", f"Text {n}", 20260218083000 + n % 7) for n in range(job.texts)]
    while texts and not stop.is_set():
        await pools.add_texts(GROUP, PoolKind.TITLES, texts[:SENT_AT_ONCE], job.name)
        del texts[:SENT_AT_ONCE]
    await stop.wait()


async def _pop(pools: PoolService, job: PoolWorkerJob, handed_out: HandedOutLog, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            handed_out.take(_ids(await pools.pop(GROUP, PoolKind.TITLES, CHUNK_SIZE, job.name)))
        except PoolEmpty:
            await slow_pace(REST)


async def _consume(pools: PoolService, job: PoolWorkerJob, handed_out: HandedOutLog, stop: asyncio.Event) -> None:
    consumer_module.PREFETCH_LEASE = PREFETCH_LEASE
    async with pools.consumer(GROUP, PoolKind.TITLES, job.name) as consumer:
        while not stop.is_set():
            items = await consumer.take(CHUNK_SIZE)
            handed_out.take(_ids(items))
            await slow_pace(THINK if items else REST)


async def _rpop(pools: PoolService, job: PoolWorkerJob, handed_out: HandedOutLog, stop: asyncio.Event) -> None:
    """A program that knows nothing but Redis: RPOP, and LPUSH of what it used."""
    client = connect_without_retry(job.settings["redis"])
    name = pool_list_name(PoolKind.TITLES, job.group_id)
    while not stop.is_set():
        try:
            await _rpop_once(client, name, handed_out)
        except (RedisError, OSError):
            await slow_pace(REST)
    await client.aclose()


async def _rpop_once(client: Redis, name: str, handed_out: HandedOutLog) -> None:
    taken = await client.rpop(name)  # type: ignore[misc]
    if taken is None:
        await slow_pace(REST)
        return
    id = int(taken.split(b":")[1].split(b",")[0])
    handed_out.take([id])
    await client.lpush(used_ids_name(name), id)  # type: ignore[misc]


async def _lease(pools: PoolService, job: PoolWorkerJob, handed_out: HandedOutLog, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            leased = await pools.lease(GROUP, PoolKind.TITLES, CHUNK_SIZE)
        except PoolEmpty:
            await slow_pace(REST)
            continue
        ids = _ids(leased.items)
        handed_out.take(ids)
        await pools.ack(GROUP, PoolKind.TITLES, leased.token, ids)


def _ids(items: list[PoolItem] | tuple[PoolItem, ...]) -> list[int]:
    return [item.id for item in items]


ROLES: dict[str, Role] = {
    "fill": _fill,
    "send": _send,
    "pop": _pop,
    "consume": _consume,
    "rpop": _rpop,
    "lease": _lease,
}
