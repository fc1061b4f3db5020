"""Eight consumers and three fillers, killed again and again while Redis restarts and is wiped: nothing comes twice.

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

from feedmill.coordination.redis import connect
from feedmill.model.pool import Guarantee, PoolCounts, PoolKind, PoolOptions, PoolRule
from feedmill.pool_wiring import open_pools
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.lost_items import LostItemSearch
from feedmill.pools.service import PoolService
from feedmill.settings import load_settings
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import add_feed
from tests.databases import emptied, settings_of
from tests.faults.pool_worker import GROUP, LOT, Job, live
from tests.services.server import Restartable, Service, find_binary, folder, free_port
from tests.waiting import fault_lasts, until

TITLES = PoolKind.TITLES
AT_ONCE = LostItemSearch(timedelta(0), timedelta(seconds=1.5))
TAKERS = ["pop"] * 4 + ["consume"] * 2 + ["rpop"] * 2

# As fast as PostgreSQL can: 240,000 rows one by one would take longer than the drill.
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
class Plan:
    """How much is handed out, and what goes wrong meanwhile."""

    items: int
    options: PoolOptions
    takers: list[str]
    kills: int
    restarts: int
    flushes: int
    seconds: float


@dataclass
class Ground:
    """The processes of a drill and what they wrote down."""

    folder: Path
    job: Job
    pools: PoolService
    db: Database
    redis: Redis
    server: Restartable
    workers: list[tuple[str, multiprocessing.process.BaseProcess]] = field(default_factory=list)
    started: int = 0
    kills: Counter[str] = field(default_factory=Counter)

    def start(self, role: str) -> None:
        job = Job(role, self.job.group_id, self.job.settings, str(self.folder / f"{role}-{self.started}.ids"))
        process = multiprocessing.get_context("forkserver").Process(target=live, args=(job,))
        process.start()
        self.started += 1
        self.workers.append((role, process))

    def kill_one(self, chance: random.Random) -> None:
        """kill -9, and another one takes its place."""
        role, process = self.workers.pop(chance.randrange(len(self.workers)))
        process.kill()
        process.join()
        self.kills[role] += 1
        self.start(role)

    async def stop(self) -> list[int | None]:
        for _, process in self.workers:
            process.terminate()
        await asyncio.to_thread(lambda: [process.join(30) for _, process in self.workers])
        return [process.exitcode for _, process in self.workers]

    def handed_out(self) -> list[int]:
        return [int(line) for file in self.folder.glob("*.ids") for line in file.read_text().split()]

    async def counts(self) -> PoolCounts:
        return (await self.pools.status(GROUP, TITLES)).counts


@pytest.fixture(scope="module", autouse=True)
def warm_nursery() -> None:
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
async def ground(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ground]:
    with own_redis() as server:
        async with emptied(request, "postgresql", tmp_path) as db:
            settings = settings_of(request, "postgresql", tmp_path) | {
                "data": str(tmp_path),
                "redis": server.service.url,
            }
            redis = connect(server.service.url)
            async with open_pools(load_settings(**settings), db) as pools:
                ground = Ground(tmp_path, Job("", 0, settings, ""), pools, db, redis, server)
                yield ground
                for _, process in ground.workers:
                    process.kill()
                    process.join()
            await redis.aclose()


async def drill(ground: Ground, plan: Plan) -> None:
    """Runs the plan to the last item."""
    group = await ground.pools.create(GROUP, PoolRule(feeds=(0,)), plan.options, plan.options)
    feed = await add_feed(ground.db, "https://example.org/feed", datetime.now(UTC))
    await ground.db.exec(ADD_ENTRIES.format(feed=feed.id, many=plan.items, at=AT))
    await ground.db.exec(ADD_ITEMS.format(group=group.id, at=AT))
    ground.job = Job("", group.id, ground.job.settings, "")
    for role in [*["fill"] * 3, *plan.takers]:
        ground.start(role)
    await _trouble(ground, plan)
    await _until_all_gone(ground, plan)
    # One that was born just now dies of the signal itself.
    assert set(await ground.stop()) <= {0, -signal.SIGTERM}


async def _trouble(ground: Ground, plan: Plan) -> None:
    chance = random.Random(20260218)
    trouble = ["kill"] * plan.kills + ["restart"] * plan.restarts + ["flush"] * plan.flushes
    chance.shuffle(trouble)
    for number, what in enumerate(trouble):
        await _until_left(ground, plan, 1 - (number + 1) / (len(trouble) + 2))
        match what:
            case "kill":
                ground.kill_one(chance)
            case "restart":
                ground.server.stop()
                await fault_lasts(chance.uniform(0, 0.3))
                ground.server.start()
            case _:
                await ground.redis.flushall()


async def _until_left(ground: Ground, plan: Plan, share: float) -> None:
    """Waits until no more than this share of the items is available."""

    async def are_handed_out() -> bool:
        return (await ground.counts()).available <= plan.items * share

    await until(are_handed_out, plan.seconds, "items are not handed out")


async def _until_all_gone(ground: Ground, plan: Plan) -> None:
    async def are_all_gone() -> bool:
        counts = await ground.counts()
        in_list = await ground.redis.llen(f"titles:pool:{ground.job.group_id}")  # type: ignore[misc]
        return not (counts.available or counts.leased or in_list)

    await until(are_all_gone, plan.seconds, "items are left")


async def hand_out_the_rest(ground: Ground) -> list[int]:
    """What those that stopped gave back."""
    await ground.pools.maintainer.run_once()
    rest: list[int] = []
    with suppress(PoolEmpty):
        while True:
            rest += [item.id for item in await ground.pools.pop(GROUP, TITLES, 1000)]
    return rest


async def check_at_most_once(ground: Ground, plan: Plan) -> None:
    handed = ground.handed_out() + await hand_out_the_rest(ground)
    counts = await ground.counts()
    lost = {item.id for item in await ground.pools.lost(GROUP, TITLES, AT_ONCE)}

    assert [id for id, times in Counter(handed).items() if times > 1] == []
    assert counts.total == plan.items
    # What is not used is queued and in no list, and all of it is told.
    assert (counts.used + len(lost), counts.queued) == (plan.items, len(lost))
    print(f"{len(handed)} handed out, {counts}, killed {dict(ground.kills)}")


async def check_lease(ground: Ground, plan: Plan) -> None:
    handed = Counter(ground.handed_out())
    repeats = sum(handed.values()) - len(handed)
    counts = await ground.counts()

    assert len(handed) == counts.used == counts.total == plan.items
    # Whoever is killed has one lot in hand.
    assert repeats <= ground.kills["lease"] * LOT
    print(f"{sum(handed.values())} handed out, {repeats} of them again, {counts}, killed {dict(ground.kills)}")


LEASE = PoolOptions(guarantee=Guarantee.LEASE, lease_seconds=5)


async def test_nothing_is_handed_out_twice_whatever_is_killed_restarted_or_wiped(ground: Ground) -> None:
    small = PoolOptions(size=1500, refill_below=1000)
    plan = Plan(15_000, small, TAKERS, kills=5, restarts=1, flushes=1, seconds=60)

    await drill(ground, plan)

    await check_at_most_once(ground, plan)
    assert len(ground.handed_out()) > 10_000


async def test_leases_repeat_no_more_than_what_the_killed_had_in_hand(ground: Ground) -> None:
    plan = Plan(4_000, LEASE, ["lease"] * 8, kills=4, restarts=1, flushes=0, seconds=60)

    await drill(ground, plan)

    await check_lease(ground, plan)


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_two_hundred_thousand_items_are_handed_out_at_most_once(ground: Ground) -> None:
    plan = Plan(240_000, PoolOptions(), TAKERS, kills=20, restarts=5, flushes=1, seconds=600)

    await drill(ground, plan)

    await check_at_most_once(ground, plan)
    assert len(ground.handed_out()) >= 200_000


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_two_hundred_thousand_leases_repeat_no_more_than_what_the_killed_had_in_hand(ground: Ground) -> None:
    plan = Plan(200_000, LEASE, ["lease"] * 8, kills=20, restarts=5, flushes=1, seconds=600)

    await drill(ground, plan)

    await check_lease(ground, plan)
