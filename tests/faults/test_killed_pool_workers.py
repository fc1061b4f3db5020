"""Pool workers are killed while Redis restarts and is wiped: no item is handed out twice, or none is lost.

The short form runs with all tests; `make drill` runs the long one.
"""

import asyncio
import multiprocessing
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from feedmill.coordination.redis_client import connect
from feedmill.model.pool import Guarantee, LossPolicy, OnLoss, PoolCounts, PoolKind, PoolOptions, PoolRule
from feedmill.open_pools import open_pools
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.lost_items import LostItemSearch
from feedmill.pools.service import PoolService
from feedmill.settings import load_settings
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import add_feed
from tests.databases import emptied, settings_of
from tests.faults.pool_worker import CHUNK_SIZE, GROUP, PoolWorkerJob, run_worker
from tests.services.server import Restartable, Service, find_binary, folder, free_port
from tests.waiting import LONGEST_WAIT, fault_lasts, until

TITLES = PoolKind.TITLES
AT_ONCE = LostItemSearch(timedelta(0), timedelta(seconds=1.5))
TAKERS = ["pop"] * 4 + ["consume"] * 2 + ["rpop"] * 2
OWN_TAKERS = ["pop"] * 6
HOLD = LossPolicy(OnLoss.HOLD, others_rpop=True)
RELEASE = LossPolicy(OnLoss.RELEASE, release_after_seconds=2, others_rpop=True)

# As fast as PostgreSQL can: 240,000 rows one by one would take longer than the test.
ADD_ENTRIES = """
INSERT INTO entries (feed_id, guid, sort_at, refresh_token, digest, in_feed, first_seen_at, last_seen_at, title)
SELECT {feed}, 'g' || n, '{at}', 't', 'd', 1, '{at}', '{at}', 'Title ' || n FROM generate_series(1, {many}) AS n
"""
ADD_ITEMS = """
INSERT INTO pool_items (group_id, kind, entry_id, batch_id, changed_at)
SELECT {group}, 'titles', id, 20260218083000 + id % 7, '{at}' FROM entries
"""
AT = "2026-02-18T08:30:00.000Z"


@dataclass(frozen=True)
class PoolRunPlan:
    """How much is handed out, and what goes wrong meanwhile."""

    items: int
    options: PoolOptions
    takers: list[str]
    kills: int
    restarts: int
    flushes: int
    seconds: float
    loss: LossPolicy = HOLD


@dataclass
class PoolRun:
    """The processes of a test and the log of what they handed out."""

    folder: Path
    job: PoolWorkerJob
    pools: PoolService
    db: Database
    redis: Redis
    server: Restartable
    workers: list[tuple[str, multiprocessing.process.BaseProcess]] = field(default_factory=list)
    started: int = 0
    kills: Counter[str] = field(default_factory=Counter)

    def start(self, role: str) -> None:
        job = PoolWorkerJob(role, self.job.group_id, self.job.settings, str(self.folder / f"{role}-{self.started}.ids"))
        process = multiprocessing.get_context("forkserver").Process(target=run_worker, args=(job,))
        process.start()
        self.started += 1
        self.workers.append((role, process))

    def kill_one(self, chance: random.Random) -> None:
        """Kills one worker with SIGKILL and starts another in its place."""
        role, process = self.workers.pop(chance.randrange(len(self.workers)))
        process.kill()
        process.join()
        self.kills[role] += 1
        self.start(role)

    async def stop(self) -> list[int | None]:
        for _, process in self.workers:
            process.terminate()
        await asyncio.to_thread(lambda: [process.join(LONGEST_WAIT) for _, process in self.workers])
        return [process.exitcode for _, process in self.workers]

    def handed_out(self) -> list[int]:
        return [int(line) for file in self.folder.glob("*.ids") for line in file.read_text().split()]

    async def counts(self) -> PoolCounts:
        return (await self.pools.status(GROUP, TITLES)).counts


@pytest.fixture(scope="module", autouse=True)
def preload_workers() -> None:
    multiprocessing.set_forkserver_preload(["tests.faults.pool_worker"])


@contextmanager
def own_redis() -> Iterator[Restartable]:
    """A Redis that comes back empty."""
    with folder("redis") as home:
        port, binary = free_port(), find_binary("redis-server")
        command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)]
        service = Service("Redis", "", f"redis://127.0.0.1:{port}/0")
        server = Restartable(service, command, port, home / "log", signal.SIGKILL)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture
async def pool_run(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PoolRun]:
    with own_redis() as server:
        async with emptied(request, "postgresql", tmp_path) as db:
            settings = settings_of(request, "postgresql", tmp_path) | {
                "data": str(tmp_path),
                "redis": server.service.url,
            }
            redis = connect(server.service.url)
            async with open_pools(load_settings(**settings), db) as pools:
                pool_run = PoolRun(tmp_path, PoolWorkerJob("", 0, settings, ""), pools, db, redis, server)
                yield pool_run
                for _, process in pool_run.workers:
                    process.kill()
                    process.join()
            await redis.aclose()


async def run_plan(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    """Runs the plan until the last item is handed out."""
    group = await pool_run.pools.create(GROUP, PoolRule(feeds=(0,)), plan.options, plan.options, loss=plan.loss)
    feed = await add_feed(pool_run.db, "https://example.org/feed", datetime.now(UTC))
    await pool_run.db.exec(ADD_ENTRIES.format(feed=feed.id, many=plan.items, at=AT))
    await pool_run.db.exec(ADD_ITEMS.format(group=group.id, at=AT))
    pool_run.job = PoolWorkerJob("", group.id, pool_run.job.settings, "")
    for role in [*["fill"] * 3, *plan.takers]:
        pool_run.start(role)
    await _cause_faults(pool_run, plan)
    await (_until_all_gone if plan.loss is HOLD else _until_all_used)(pool_run, plan)
    # A process that has only just started is ended by the signal itself.
    assert set(await pool_run.stop()) <= {0, -signal.SIGTERM}


async def _cause_faults(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    chance = random.Random(20260218)
    faults = ["kill"] * plan.kills + ["restart"] * plan.restarts + ["flush"] * plan.flushes
    chance.shuffle(faults)
    for number, what in enumerate(faults):
        await _until_left(pool_run, plan, 1 - (number + 1) / (len(faults) + 2))
        match what:
            case "kill":
                pool_run.kill_one(chance)
            case "restart":
                pool_run.server.stop()
                await fault_lasts(chance.uniform(0, 0.3))
                pool_run.server.start()
            case _:
                await pool_run.redis.flushall()


async def _until_left(pool_run: PoolRun, plan: PoolRunPlan, share: float) -> None:
    """Waits until no more than this share of the items is available."""

    async def are_handed_out() -> bool:
        return (await pool_run.counts()).available <= plan.items * share

    await until(are_handed_out, plan.seconds, "items are not handed out")


async def _until_all_gone(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    async def are_all_gone() -> bool:
        counts = await pool_run.counts()
        in_list = await pool_run.redis.llen(f"titles:pool:{pool_run.job.group_id}")  # type: ignore[misc]
        return not (counts.available or counts.leased or in_list)

    await until(are_all_gone, plan.seconds, "items are left")


async def _until_all_used(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    """Until nothing is left, except what a running consumer has fetched."""

    async def are_all_used() -> bool:
        counts = await pool_run.counts()
        return not (counts.available or counts.queued or counts.held or counts.leased)

    await until(are_all_used, plan.seconds, "items are held back")


async def hand_out_the_rest(pool_run: PoolRun) -> list[int]:
    """Hands out what stopped workers gave back."""
    await pool_run.pools.maintainer.run_once()
    rest: list[int] = []
    with suppress(PoolEmpty):
        while True:
            rest += [item.id for item in await pool_run.pools.pop(GROUP, TITLES, 1000)]
    return rest


async def check_at_most_once(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    handed = pool_run.handed_out() + await hand_out_the_rest(pool_run)
    counts = await pool_run.counts()
    lost = {item.id for item in await pool_run.pools.lost(GROUP, TITLES, AT_ONCE)}

    assert [id for id, times in Counter(handed).items() if times > 1] == []
    assert counts.total == plan.items
    # What is not used is held back, or queued and in no list, and reported as lost.
    assert (counts.used + len(lost), counts.queued + counts.held) == (plan.items, len(lost))
    print(f"{len(handed)} handed out, {counts}, killed {dict(pool_run.kills)}")


async def check_nothing_lost(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    handed = Counter(pool_run.handed_out() + await hand_out_the_rest(pool_run))
    counts = await pool_run.counts()

    assert counts == PoolCounts(used=plan.items)
    # A call that is killed after its mark, and before it returns, has taken at most one chunk with it.
    killed_calls = pool_run.kills["pop"] + pool_run.kills["consume"]
    assert plan.items - len(handed) <= killed_calls * CHUNK_SIZE
    repeats = sum(handed.values()) - len(handed)
    print(f"{len(handed)} of {plan.items} handed out, {repeats} again, {counts}, killed {dict(pool_run.kills)}")


async def check_own_calls(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    """Nothing twice and nothing held back: what our own calls hand out is never in doubt."""
    handed = Counter(pool_run.handed_out())
    counts = await pool_run.counts()

    assert [id for id, times in handed.items() if times > 1] == []
    assert counts == PoolCounts(used=plan.items)
    assert plan.items - len(handed) <= pool_run.kills["pop"] * CHUNK_SIZE
    print(f"{len(handed)} of {plan.items} handed out, {counts}, killed {dict(pool_run.kills)}")


async def check_lease(pool_run: PoolRun, plan: PoolRunPlan) -> None:
    handed = Counter(pool_run.handed_out())
    repeats = sum(handed.values()) - len(handed)
    counts = await pool_run.counts()

    assert len(handed) == counts.used == counts.total == plan.items
    # A killed worker holds one chunk.
    assert repeats <= pool_run.kills["lease"] * CHUNK_SIZE
    print(f"{sum(handed.values())} handed out, {repeats} of them again, {counts}, killed {dict(pool_run.kills)}")


# Longer than a worker on a busy machine takes from a lease to its end.
LEASE = PoolOptions(guarantee=Guarantee.LEASE, lease_seconds=15)


async def test_nothing_is_handed_out_twice_whatever_is_killed_restarted_or_wiped(pool_run: PoolRun) -> None:
    small = PoolOptions(size=1500, refill_below=1000)
    plan = PoolRunPlan(15_000, small, TAKERS, kills=5, restarts=1, flushes=1, seconds=60)

    await run_plan(pool_run, plan)

    await check_at_most_once(pool_run, plan)
    assert len(pool_run.handed_out()) > 10_000


async def test_nothing_is_lost_if_items_in_doubt_are_released(pool_run: PoolRun) -> None:
    small = PoolOptions(size=1500, refill_below=1000)
    plan = PoolRunPlan(12_000, small, TAKERS, kills=5, restarts=1, flushes=1, seconds=60, loss=RELEASE)

    await run_plan(pool_run, plan)

    await check_nothing_lost(pool_run, plan)


async def test_what_only_our_own_calls_hand_out_comes_back_without_a_command(pool_run: PoolRun) -> None:
    small = PoolOptions(size=1500, refill_below=1000)
    plan = PoolRunPlan(12_000, small, OWN_TAKERS, kills=3, restarts=1, flushes=1, seconds=60, loss=LossPolicy())

    await run_plan(pool_run, plan)

    await check_own_calls(pool_run, plan)


async def test_leases_repeat_no_more_than_what_killed_workers_held(pool_run: PoolRun) -> None:
    plan = PoolRunPlan(4_000, LEASE, ["lease"] * 8, kills=4, restarts=1, flushes=0, seconds=60)

    await run_plan(pool_run, plan)

    await check_lease(pool_run, plan)


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_two_hundred_thousand_items_are_handed_out_at_most_once(pool_run: PoolRun) -> None:
    plan = PoolRunPlan(240_000, PoolOptions(), TAKERS, kills=20, restarts=5, flushes=1, seconds=600)

    await run_plan(pool_run, plan)

    await check_at_most_once(pool_run, plan)
    assert len(pool_run.handed_out()) >= 200_000


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_of_two_hundred_thousand_items_none_is_lost_if_those_in_doubt_are_released(pool_run: PoolRun) -> None:
    plan = PoolRunPlan(240_000, PoolOptions(), TAKERS, kills=20, restarts=5, flushes=1, seconds=600, loss=RELEASE)

    await run_plan(pool_run, plan)

    await check_nothing_lost(pool_run, plan)


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_two_hundred_thousand_items_of_our_own_calls_are_never_in_doubt(pool_run: PoolRun) -> None:
    plan = PoolRunPlan(
        240_000, PoolOptions(), OWN_TAKERS, kills=20, restarts=5, flushes=1, seconds=600, loss=LossPolicy()
    )

    await run_plan(pool_run, plan)

    await check_own_calls(pool_run, plan)


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_two_hundred_thousand_leases_repeat_no_more_than_what_killed_workers_held(pool_run: PoolRun) -> None:
    plan = PoolRunPlan(200_000, LEASE, ["lease"] * 8, kills=20, restarts=5, flushes=1, seconds=600)

    await run_plan(pool_run, plan)

    await check_lease(pool_run, plan)
