"""Batches and their jobs: start, progress, cancel, finish, take over from a process that died."""

from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

from sqlalchemy import Integer, bindparam, exists, func, select

from feedmill.errors import ConstraintViolated
from feedmill.i18n.messages import Message, message_or_none, message_to_stored, stored_or_none
from feedmill.lazy_loggers import get_logger
from feedmill.model.batch import Batch, JobOutcome
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, count_where, insert, insert_new, one_of
from feedmill.store.schema import batch_jobs, batches

log = get_logger(__name__)

HEARTBEAT_EVERY = timedelta(seconds=30)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
NO_JOBS_ENDED = {"done": 0, "new_entries": 0, "failed": 0}


_ended = batch_jobs.c.finished_at.is_not(None)
_unfinished = exists().where(batch_jobs.c.batch_id == batches.c.id, batch_jobs.c.finished_at.is_(None))

CREATE = insert_new(batches, "token", "kind", "user_id", "running_key", "total", "report", "created_at", "heartbeat_at")
BY_KEY = select(batches.c.id, batches.c.token).where(batches.c.running_key == bindparam("running_key"))
# Fails when the batch was not created, and so undoes its jobs.
ADD_JOB = insert(batch_jobs, "feed_id").values(
    batch_id=select(batches.c.id).where(batches.c.token == bindparam("batch_token")).scalar_subquery()
)
READ = select(batches).where(batches.c.id == bindparam("batch_id"))
_counts = (
    func.count().label("done"),
    func.coalesce(func.sum(batch_jobs.c.new_entries), 0).label("new_entries"),
    count_where(batch_jobs.c.outcome == "failed").label("failed"),
)
COUNTS = select(*_counts).where(batch_jobs.c.batch_id == bindparam("batch_id"), _ended)
OF_USER = (
    select(batches)
    .where(batches.c.user_id == bindparam("user_id"), batches.c.id < bindparam("below"))
    .order_by(batches.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)
RUNNING = (
    select(batches.c.id)
    .where(batches.c.user_id == bindparam("user_id"), batches.c.status == "running", batches.c.total > 1)
    .order_by(batches.c.id.desc())
    .limit(1)
)
COUNTS_OF_MANY = (
    select(batch_jobs.c.batch_id, *_counts)
    .where(one_of(batch_jobs.c.batch_id, "ids"), _ended)
    .group_by(batch_jobs.c.batch_id)
)
FAILURES = (
    select(batch_jobs)
    .where(batch_jobs.c.batch_id == bindparam("batch_id"), batch_jobs.c.outcome == "failed")
    .order_by(batch_jobs.c.finished_at, batch_jobs.c.feed_id)
    .limit(bindparam("most", type_=Integer))
)
OUTCOMES = (
    select(batch_jobs)
    .where(batch_jobs.c.batch_id == bindparam("batch_id"), batch_jobs.c.finished_at >= bindparam("since"))
    .order_by(batch_jobs.c.finished_at, batch_jobs.c.feed_id)
)
UNFINISHED_JOBS = select(batch_jobs.c.feed_id).where(
    batch_jobs.c.batch_id == bindparam("batch_id"), batch_jobs.c.finished_at.is_(None)
)
END_JOB = (
    batch_jobs.update()
    .where(
        batch_jobs.c.batch_id == bindparam("job_batch"),
        batch_jobs.c.feed_id == bindparam("job_feed"),
        batch_jobs.c.finished_at.is_(None),
    )
    .values({name: bindparam(f"job_{name}") for name in ("outcome", "new_entries", "ms", "message", "finished_at")})
)
CANCEL_UNFINISHED = (
    batch_jobs.update()
    .where(batch_jobs.c.batch_id == bindparam("batch"), batch_jobs.c.finished_at.is_(None))
    .values(outcome="cancelled", finished_at=bindparam("at"))
)
FAIL_UNFINISHED = CANCEL_UNFINISHED.values(outcome="failed", message=message_to_stored(Message("job.no_outcome")))
CANCEL = (
    batches.update()
    .where(batches.c.id == bindparam("batch"), batches.c.status == "running")
    .values(status="cancelled", cancelled_at=bindparam("at"), finished_at=bindparam("at"), running_key=None)
)
FINISH = (
    batches.update()
    .where(batches.c.id == bindparam("batch"), batches.c.status == "running", ~_unfinished)
    .values(status="done", finished_at=bindparam("at"), running_key=None)
)
IS_RUNNING = select(batches.c.id).where(batches.c.id == bindparam("batch_id"), batches.c.status == "running")
_set_heartbeat = batches.update().values(heartbeat_at=bindparam("at")).where(batches.c.id == bindparam("batch"))
# Not at each job: the jobs of a batch would queue for this row.
HEARTBEAT = _set_heartbeat.where(batches.c.heartbeat_at < bindparam("older_than"))
TAKE_OVER = _set_heartbeat.where(batches.c.heartbeat_at == bindparam("heard_at_before"), batches.c.status == "running")
RELEASE = _set_heartbeat.where(batches.c.status == "running")
ABANDONED = select(batches.c.id, batches.c.heartbeat_at).where(
    batches.c.status == "running", batches.c.heartbeat_at < bindparam("before")
)


async def start_batch(
    db: Database,
    kind: str,
    feed_ids: Sequence[int],
    now: datetime,
    user_id: int | None = None,
    about: str = "",
    report: str | None = None,
) -> tuple[int, bool]:
    """Starts a batch, or joins the running one of the same kind, user and subject; its id, and whether it is new."""
    token, at, running_key = token_hex(16), to_iso(now), f"{kind}:{user_id or 'all'}:{about}".rstrip(":")
    jobs = [{"feed_id": feed_id, "batch_token": token} for feed_id in dict.fromkeys(feed_ids)]
    row = {
        "token": token,
        "kind": kind,
        "user_id": user_id,
        "running_key": running_key,
        "total": len(jobs),
        "report": report,
        "created_at": at,
        "heartbeat_at": at,
    }
    while True:
        try:
            await db.batch([Step(CREATE, row), Step(ADD_JOB, jobs)])
        except ConstraintViolated:
            log.debug("batch_already_running", running_key=running_key)
        # None is found if the running batch has ended meanwhile; then try again.
        for found in await db.query(BY_KEY, {"running_key": running_key}):
            return found["id"], found["token"] == token


async def read_batch(db: Database, batch_id: int) -> Batch | None:
    rows = await db.query(READ, {"batch_id": batch_id})
    if not rows:
        return None
    [counts] = await db.query(COUNTS, {"batch_id": batch_id})
    return _batch(rows[0], counts)


async def batches_of_user(db: Database, user_id: int, below: int, most: int) -> list[Batch]:
    """The user's batches with ids below `below`, the newest first."""
    rows = await db.query(OF_USER, {"user_id": user_id, "below": below, "most": most})
    counts = await db.query(COUNTS_OF_MANY, {"ids": as_list([row["id"] for row in rows])})
    by_id = {row["batch_id"]: row for row in counts}
    return [_batch(row, by_id.get(row["id"], NO_JOBS_ENDED)) for row in rows]


async def running_batch(db: Database, user_id: int) -> int | None:
    """The user's latest running batch of several feeds."""
    rows = await db.query(RUNNING, {"user_id": user_id})
    return int(rows[0]["id"]) if rows else None


async def failed_jobs(db: Database, batch_id: int, most: int) -> list[JobOutcome]:
    """The failed jobs of the batch, in the order in which they failed."""
    return [_outcome(row) for row in await db.query(FAILURES, {"batch_id": batch_id, "most": most})]


async def outcomes_since(
    db: Database, batch_id: int, since: str, known: Container[int] = ()
) -> list[tuple[str, JobOutcome]]:
    """The jobs that ended at `since` or later, without those of known feeds; each with its time."""
    rows = await db.query(OUTCOMES, {"batch_id": batch_id, "since": since})
    return [(row["finished_at"], _outcome(row)) for row in rows if row["feed_id"] not in known]


async def unfinished_jobs(db: Database, batch_id: int) -> list[int]:
    return [row["feed_id"] for row in await db.query(UNFINISHED_JOBS, {"batch_id": batch_id})]


async def is_batch_running(db: Database, batch_id: int) -> bool:
    """Whether the batch is neither cancelled nor finished."""
    return bool(await db.query(IS_RUNNING, {"batch_id": batch_id}))


def step_to_end_job(batch_id: int, outcome: JobOutcome, now: datetime) -> Step:
    """The step that ends a job of a batch; ending it again changes nothing."""
    values = {"batch": batch_id, "feed": outcome.feed_id, "finished_at": to_iso(now)} | {
        name: getattr(outcome, name) for name in ("outcome", "new_entries", "ms")
    }
    values["message"] = stored_or_none(outcome.message)
    return Step(END_JOB, {f"job_{name}": value for name, value in values.items()})


async def finish_batch(db: Database, batch_id: int, now: datetime) -> bool:
    """Finishes the batch after its last job; jobs without a result have failed. True for whoever finished it."""
    values = {"batch": batch_id, "at": to_iso(now)}
    _, finished = await db.batch([Step(FAIL_UNFINISHED, values), Step(FINISH, values)])
    return finished == 1


async def finish_batch_if_complete(db: Database, batch_id: int, now: datetime) -> bool:
    """Finishes the batch if all its jobs have ended. True for whoever finished it."""
    return await db.batch([Step(FINISH, {"batch": batch_id, "at": to_iso(now)})]) == [1]


async def cancel_batch(db: Database, batch_id: int, now: datetime) -> bool:
    """Cancels the waiting jobs; running ones finish. False when the batch had ended already."""
    values = {"batch": batch_id, "at": to_iso(now)}
    cancelled, _ = await db.batch([Step(CANCEL, values), Step(CANCEL_UNFINISHED, values)])
    return cancelled == 1


def step_to_record_heartbeat(batch_id: int, now: datetime) -> Step:
    """The step that records that a process works on the batch."""
    return Step(HEARTBEAT, {"batch": batch_id, "at": to_iso(now), "older_than": to_iso(now - HEARTBEAT_EVERY)})


async def release_batches(db: Database, batch_ids: Sequence[int]) -> None:
    """Records that no process works on these batches, so that another takes them over at once."""
    await db.batch([Step(RELEASE, [{"batch": batch_id, "at": to_iso(LONG_AGO)} for batch_id in batch_ids])])


async def take_over_batches(db: Database, before: datetime, now: datetime) -> list[int]:
    """Takes over the running batches without a heartbeat since `before`; each goes to one caller."""
    abandoned = await db.query(ABANDONED, {"before": to_iso(before)})
    taken = []
    for row in abandoned:
        values = {"batch": row["id"], "at": to_iso(now), "heard_at_before": row["heartbeat_at"]}
        if await db.batch([Step(TAKE_OVER, values)]) == [1]:
            taken.append(row["id"])
    return taken


def _batch(row: Row, counts: Mapping[str, Any]) -> Batch:
    return Batch(
        id=row["id"],
        kind=row["kind"],
        user_id=row["user_id"],
        status=row["status"],
        total=row["total"],
        done=counts["done"],
        new_entries=int(counts["new_entries"]),
        failed=int(counts["failed"]),
        created_at=from_iso(row["created_at"]),
        finished_at=datetime_or_none(row["finished_at"]),
        report=row["report"],
        waiting=row["status"] == "running" and from_iso(row["heartbeat_at"]) <= LONG_AGO,
    )


def _outcome(row: Row) -> JobOutcome:
    same = {name: row[name] for name in ("feed_id", "outcome", "new_entries", "ms", "finished_at")}
    return JobOutcome(**same, message=message_or_none(row["message"]))
