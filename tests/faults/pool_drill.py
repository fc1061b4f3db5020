"""Hands out thousands of pool items while workers are killed and Redis restarts and is wiped, and counts what became
of each item.
"""

import asyncio
import multiprocessing
import random
import signal
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from redis.asyncio import Redis
from sqlalchemy import select

from feedmill.model.pool import LossPolicy, OnLoss, PoolCounts, PoolItemState, PoolKind, PoolOptions, PoolRule
from feedmill.pools.claim_tokens import token_holder
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.lost_items import LostItemSearch
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import pool_items
from tests.faults.pool_worker import CHUNK_SIZE, GROUP, PoolWorkerJob, run_worker
from tests.services.server import Restartable
from tests.waiting import LONGEST_WAIT, fault_lasts, until

TITLES = PoolKind.TITLES
AT_ONCE = LostItemSearch(timedelta(0), timedelta(seconds=1.5))
FILLERS = ["fill"] * 3
SENDERS = ["send"] * 2
TAKERS = ["pop"] * 4 + ["consume"] * 2 + ["rpop"] * 2
OWN_TAKERS = ["pop"] * 6
HOLD = LossPolicy(OnLoss.HOLD, others_rpop=True)
RELEASE = LossPolicy(OnLoss.RELEASE, release_after_seconds=2, others_rpop=True)

# In one statement: 240,000 rows one by one would take longer than the test.
NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {many})"
ADD_ENTRIES = f"""
INSERT INTO entries (feed_id, guid, sort_at, refresh_token, digest, in_feed, first_seen_at, last_seen_at, title)
{NUMBERS} SELECT {{feed}}, 'g' || n, '{{at}}', 't', 'd', 1, '{{at}}', '{{at}}', 'Title ' || n FROM numbers
"""
ADD_ITEMS = """
INSERT INTO pool_items (group_id, kind, entry_id, batch_id, changed_at)
SELECT {group}, 'titles', id, 20260218083000 + id % 7, '{at}' FROM entries
"""
AT = "2026-02-18T08:30:00.000Z"
TAKEN_BY = select(pool_items.c.id, pool_items.c.taken_by).where(pool_items.c.status == PoolItemState.USED)


@dataclass(frozen=True)
class PoolDrillPlan:
    """How much is handed out, and what goes wrong meanwhile. `texts` is what each sender puts in."""

    entries: int
    options: PoolOptions
    takers: list[str]
    kills: int
    restarts: int
    flushes: int
    seconds: float
    loss: LossPolicy = HOLD
    texts: int = 0

    @property
    def items(self) -> int:
        return self.entries + self.texts * len(SENDERS)

    @property
    def workers(self) -> list[str]:
        return [*FILLERS, *(SENDERS if self.texts else []), *self.takers]


@dataclass
class PoolDrill:
    """The processes of a test and the log of what they handed out."""

    folder: Path
    settings: dict[str, str]
    pools: PoolService
    db: Database
    redis: Redis
    server: Restartable
    group_id: int = 0
    workers: list[tuple[PoolWorkerJob, multiprocessing.process.BaseProcess]] = field(default_factory=list)
    started: int = 0
    killed: list[PoolWorkerJob] = field(default_factory=list)

    def start(self, job: PoolWorkerJob) -> None:
        """Starts a process for the job, with a name and a log of its own."""
        name = f"{job.role}-{self.started}"
        job = replace(job, name=name, log=str(self.folder / f"{name}.ids"))
        process = multiprocessing.get_context("forkserver").Process(target=run_worker, args=(job,))
        process.start()
        self.started += 1
        self.workers.append((job, process))

    def kill_one(self, chance: random.Random) -> None:
        """Kills a worker with SIGKILL and starts another in its place; each role has its turn."""
        job, process = min(self.workers, key=lambda worker: (self.kills().get(worker[0].role, 0), chance.random()))
        self.workers.remove((job, process))
        process.kill()
        process.join()
        self.killed.append(job)
        self.start(job)

    async def stop(self) -> list[int | None]:
        for _, process in self.workers:
            process.terminate()
        await asyncio.to_thread(lambda: [process.join(LONGEST_WAIT) for _, process in self.workers])
        return [process.exitcode for _, process in self.workers]

    def kill_all(self) -> None:
        for _, process in self.workers:
            process.kill()
            process.join()

    def kills(self) -> dict[str, int]:
        return dict(Counter(job.role for job in self.killed))

    def handed_out(self, role: str = "*") -> list[int]:
        """The ids of what the workers of that role took, or all workers."""
        return [int(line) for file in self.folder.glob(f"{role}-*.ids") for line in file.read_text().split()]

    async def counts(self) -> PoolCounts:
        return (await self.pools.status(GROUP, TITLES)).counts

    async def taken_by(self) -> dict[int, str]:
        """Who marked each used item."""
        return {row["id"]: token_holder(row["taken_by"]) or "" for row in await self.db.query(TAKEN_BY)}


async def run_drill(drill: PoolDrill, plan: PoolDrillPlan) -> None:
    """Runs the plan until the last item is handed out."""
    group = await drill.pools.create(GROUP, PoolRule(feeds=(0,)), plan.options, plan.options, loss=plan.loss)
    feed = await add_feed(drill.db, "https://example.org/feed", datetime.now(UTC))
    await drill.db.exec(ADD_ENTRIES.format(feed=feed.id, many=plan.entries, at=AT))
    await drill.db.exec(ADD_ITEMS.format(group=group.id, at=AT))
    drill.group_id = group.id
    for number, role in enumerate(plan.workers):
        drill.start(PoolWorkerJob(role, group.id, drill.settings, place=number, texts=plan.texts))
    await _cause_faults(drill, plan)
    await (_until_all_gone if plan.loss is HOLD else _until_all_used)(drill, plan)
    # A process that has only just started is ended by the signal itself.
    assert set(await drill.stop()) <= {0, -signal.SIGTERM}


async def _cause_faults(drill: PoolDrill, plan: PoolDrillPlan) -> None:
    chance = random.Random(20260218)
    faults = ["kill"] * plan.kills + ["restart"] * plan.restarts + ["flush"] * plan.flushes
    chance.shuffle(faults)
    for number, what in enumerate(faults):
        await _until_taken(drill, plan, (number + 1) / (len(faults) + 2))
        match what:
            case "kill":
                drill.kill_one(chance)
            case "restart":
                drill.server.stop(signal.SIGKILL)
                await fault_lasts(chance.uniform(0, 0.3))
                drill.server.start()
            case _:
                await drill.redis.flushall()


async def _until_taken(drill: PoolDrill, plan: PoolDrillPlan, share: float) -> None:
    """Waits until this share of the items is in the list or handed out."""

    async def are_taken() -> bool:
        counts = await drill.counts()
        return counts.total - counts.available >= plan.items * share

    await until(are_taken, plan.seconds, "items are not handed out")


async def _until_all_gone(drill: PoolDrill, plan: PoolDrillPlan) -> None:
    async def are_all_gone() -> bool:
        counts = await drill.counts()
        in_list = await drill.redis.llen(f"titles:pool:{drill.group_id}")  # type: ignore[misc]
        return counts.total == plan.items and not (counts.available or counts.leased or in_list)

    await until(are_all_gone, plan.seconds, "items are left")


async def _until_all_used(drill: PoolDrill, plan: PoolDrillPlan) -> None:
    """Until nothing is left, except what a running consumer has fetched."""

    async def are_all_used() -> bool:
        counts = await drill.counts()
        return counts.total == plan.items and not (counts.available or counts.queued or counts.held or counts.leased)

    await until(are_all_used, plan.seconds, "items are held back")


async def hand_out_the_rest(drill: PoolDrill) -> list[int]:
    """Hands out what stopped workers gave back."""
    await drill.pools.maintainer.run_once()
    rest: list[int] = []
    with suppress(PoolEmpty):
        while True:
            rest += [item.id for item in await drill.pools.pop(GROUP, TITLES, 1000)]
    return rest


async def check_at_most_once(drill: PoolDrill, plan: PoolDrillPlan) -> Counter[int]:
    """Nothing is handed out twice, and what is not handed out is reported as lost or went with a killed call."""
    handed = Counter(drill.handed_out() + await hand_out_the_rest(drill))
    counts = await drill.counts()
    lost = {item.id for item in await drill.pools.lost(GROUP, TITLES, AT_ONCE)}

    assert [id for id, times in handed.items() if times > 1] == []
    assert counts.total == plan.items
    # What is not used is held back, or queued and in no list, and reported as lost.
    assert (counts.used + len(lost), counts.queued + counts.held) == (plan.items, len(lost))
    # Our own calls mark an item before they return it, so none of theirs is in doubt.
    assert lost.isdisjoint(drill.handed_out("pop"))
    await _check_unseen(drill, handed)
    print(f"{len(handed)} of {plan.items} handed out, {len(lost)} held back, killed {drill.kills()}")
    return handed


async def check_nothing_lost(drill: PoolDrill, plan: PoolDrillPlan) -> None:
    """Every item is handed out, except what killed calls took with them."""
    handed = Counter(drill.handed_out() + await hand_out_the_rest(drill))
    counts = await drill.counts()

    assert counts == PoolCounts(used=plan.items)
    unseen = await _check_unseen(drill, handed)
    assert len(handed) + unseen == plan.items
    repeats = sum(handed.values()) - len(handed)
    print(f"{len(handed)} of {plan.items} handed out, {repeats} again, killed {drill.kills()}")


async def check_own_calls(drill: PoolDrill, plan: PoolDrillPlan) -> None:
    """Nothing twice and nothing held back: what our own calls hand out is never in doubt."""
    handed = Counter(drill.handed_out())
    counts = await drill.counts()

    assert [id for id, times in handed.items() if times > 1] == []
    assert counts == PoolCounts(used=plan.items)
    assert len(handed) + await _check_unseen(drill, handed) == plan.items
    print(f"{len(handed)} of {plan.items} handed out, killed {drill.kills()}")


async def _check_unseen(drill: PoolDrill, handed: Counter[int]) -> int:
    """How many items are used and nobody saw them: at most one chunk of each call that was killed after its mark."""
    unseen = Counter(who for id, who in (await drill.taken_by()).items() if id not in handed)

    assert set(unseen) <= {job.name for job in drill.killed}
    assert all(items <= CHUNK_SIZE for items in unseen.values())
    return unseen.total()


async def check_lease(drill: PoolDrill, plan: PoolDrillPlan) -> None:
    """Everything is handed out, and again only what a killed worker held: one chunk."""
    handed = Counter(drill.handed_out())
    repeats = sum(handed.values()) - len(handed)
    counts = await drill.counts()

    assert len(handed) == counts.used == counts.total == plan.items
    assert repeats <= drill.kills().get("lease", 0) * CHUNK_SIZE
    print(f"{sum(handed.values())} handed out, {repeats} of them again, killed {drill.kills()}")
