"""The jobs of a worker's messages: a batch ends with its last job, in whatever order its messages come."""

from feedmill.coordination.memory import MemoryLocks
from feedmill.engine.jobs import BatchComplete, Priority
from feedmill.run.held_claims import refresh_jobs_of
from feedmill.run.worker_jobs import WorkerJobRunner
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.jobs.batches import read_batch, start_batch
from tests.flows.refresh_environment import RefreshEnvironment, answer, item
from tests.run.conftest import EmbeddedProcess


async def test_a_batch_whose_callback_came_too_early_ends_with_its_last_job(
    env: RefreshEnvironment, process: EmbeddedProcess
) -> None:
    feeds = [await env.add(f"/{number}", answer(item(f"entry {number}"))) for number in range(3)]
    ids = [feed.id for feed in feeds]
    batch_id, _ = await start_batch(env.db, "refresh_all", ids, env.tools.clock())
    claims = await claim_feeds(env.db, ids, env.tools.clock())
    first, *others = refresh_jobs_of(claims, lambda feed: "", batch_id)
    runner = WorkerJobRunner(env.db, process.engine, process.handlers, MemoryLocks(), clock=env.tools.clock)

    early = await runner.run_job(BatchComplete(batch_id), Priority.MANUAL, "a")
    await runner.run_chunk([first], Priority.MANUAL, "b")
    begun = await read_batch(env.db, batch_id)
    await runner.run_chunk(others, Priority.MANUAL, "c")
    ended = await read_batch(env.db, batch_id)

    assert early == {"success": True, "skipped": True, "reason": "not_complete"}
    assert begun is not None
    assert (begun.status, begun.done) == ("running", 1)
    assert ended is not None
    assert (ended.status, ended.done, ended.failed) == ("done", 3, 0)
