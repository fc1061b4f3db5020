"""A process of the product with the simulated web and the fast clock: `python worker.py PLAN NAME`.

PLAN is a file of JSON that `run.py` writes. The role is `embedded` (a scheduler and its fetches in one process, as
`feedmill serve` has), `worker` or `scheduler` (with Celery and Redis), or `api` (the pages and the API).
"""

import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvloop

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(Path(__file__).parent)]

from discarded_blobs import DiscardedBlobs  # noqa: E402
from fast_clock import FastClock, clock_of, use_fast_waits  # noqa: E402
from feed_profiles import BIG_HOST, FeedProfiles  # noqa: E402
from first_due import FirstDue  # noqa: E402
from lateness import Lateness  # noqa: E402
from simulated_web import SimulatedWeb  # noqa: E402

from feedmill.app import App, build_app  # noqa: E402
from feedmill.logs import set_up  # noqa: E402
from feedmill.model.feed import Claim, Feed  # noqa: E402
from feedmill.model.hosts import host_of  # noqa: E402
from feedmill.model.refresh import Failed, Postponed, RefreshDecision, Unchanged, Updated  # noqa: E402
from feedmill.run.embedded import assemble_parts, open_embedded  # noqa: E402
from feedmill.run.scheduler import Scheduler  # noqa: E402
from feedmill.run.scheduler_process import run_scheduler_process  # noqa: E402
from feedmill.run.worker_process import run_worker_process  # noqa: E402
from feedmill.serve import asgi  # noqa: E402
from feedmill.serve.http.connections.server import listen, serve_on  # noqa: E402
from feedmill.settings import load_settings  # noqa: E402
from feedmill.store.database import Database  # noqa: E402
from feedmill.store.feeds.read_feeds import feeds_of_ids  # noqa: E402

REPORT_EVERY = 1.0
KINDS = {Updated: "updated", Unchanged: "unchanged", Failed: "failed", Postponed: "postponed"}


class Recorder:
    """Counts what is recorded, and appends the sums to a file once a second: it may be killed at any time."""

    def __init__(self, clock: FastClock, file: Path, first_due: FirstDue) -> None:
        self._clock, self._file, self._first_due = clock, file, first_due
        self._kinds = Counter[str]()
        self._late, self._late_crowded = Lateness(), Lateness()

    def announce(self, feed: Feed, decision: RefreshDecision) -> None:
        self._kinds[KINDS[type(decision)]] += 1
        if isinstance(decision, Updated):
            self._kinds["new_entries"] += len(decision.changes.new)
            self._kinds["revised"] += len(decision.changes.revised)
        if feed.next_fetch_at is None:
            return
        if isinstance(decision, Postponed):
            self._first_due.note(feed.id, feed.next_fetch_at)
            return
        late = self._late_crowded if host_of(feed.url) == BIG_HOST else self._late
        late.add(self._clock.seconds() - self._first_due.take(feed.id, feed.next_fetch_at))

    async def note_postponed(self, db: Database, claims: Sequence[Claim]) -> None:
        """What the scheduler is about to postpone itself. Its claims need not say when their feeds were due."""
        self._kinds["postponed_by_scheduler"] += len(claims)
        new = [claim.feed for claim in claims if not self._first_due.has(claim.feed.id)]
        unknown = [feed.id for feed in new if feed.next_fetch_at is None]
        for feed in [*new, *(await feeds_of_ids(db, unknown) if unknown else ())]:
            if feed.next_fetch_at is not None:
                self._first_due.note(feed.id, feed.next_fetch_at)

    async def keep_writing(self) -> None:
        while True:
            await asyncio.sleep(REPORT_EVERY)
            self.write()

    def write(self) -> None:
        line = {
            "at": self._clock.seconds(),
            "kinds": dict(self._kinds),
            "late": self._late.counts,
            "late_crowded": self._late_crowded.counts,
        }
        with self._file.open("a") as out:
            out.write(json.dumps(line) + "\n")


async def main(plan: dict[str, Any], name: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    settings = load_settings(**plan["settings"])
    set_up(settings)
    role = name.partition("-")[0]
    if role == "api":
        async with build_app(settings) as app:
            listening = listen(settings)
            listening.listen()
            await serve_on(listening, asgi.create_asgi_app(app, assemble_parts(app).batches), settings)
        return
    clock = await clock_of(plan, name)
    use_fast_waits(clock, plan["lease_seconds"])
    folder = Path(plan["folder"])
    recorder = Recorder(clock, folder / f"{name}.jsonl", FirstDue(folder / "first_due", plan["feeds"]))
    _note_what_schedulers_postpone(recorder)
    async with build_app(settings) as built:
        app = with_simulated_web(built, plan, clock, recorder)
        async with _writing(recorder):
            match role:
                case "worker":
                    await run_worker_process(app, stop)
                case "scheduler":
                    await run_scheduler_process(app, stop)
                case _:
                    await _run_embedded(app, clock, stop)
    recorder.write()


def with_simulated_web(app: App, plan: dict[str, Any], clock: FastClock, recorder: Recorder) -> App:
    profiles = FeedProfiles(plan["feeds"], plan["entries"], plan["first_day"])
    web = SimulatedWeb(profiles, clock, plan["pool"], plan["words"], app.coordination.host_slots)
    blobs = DiscardedBlobs()
    tools = replace(app.tools, client=web, blobs=blobs, clock=clock.now, announce=recorder.announce)
    return replace(app, tools=tools, blobs=blobs)


def _note_what_schedulers_postpone(recorder: Recorder) -> None:
    postpone = Scheduler._postpone

    async def noted(scheduler: Scheduler, claims: list[Claim]) -> None:
        if claims:
            await recorder.note_postponed(scheduler.db, claims)
        await postpone(scheduler, claims)

    setattr(Scheduler, "_postpone", noted)  # noqa: B010


@asynccontextmanager
async def _writing(recorder: Recorder) -> AsyncIterator[None]:
    task = asyncio.create_task(recorder.keep_writing())
    try:
        yield
    finally:
        task.cancel()


async def _run_embedded(app: App, clock: FastClock, stop: asyncio.Event) -> None:
    async with open_embedded(app) as parts:
        parts.scheduler.scan_every = timedelta(seconds=parts.scheduler.scan_every.total_seconds() / clock.speed)
        scanning = asyncio.create_task(parts.scheduler.run())
        await stop.wait()
        scanning.cancel()


if __name__ == "__main__":
    uvloop.run(main(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]))
