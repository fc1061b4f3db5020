"""Jobs that apply a filter to stored entries, or take back what it did: start, take with a lease, progress, end.

A job works in chunks. Each chunk is one batch that also moves `chunk_start`; its claim check rolls it back if the job
was taken over, cancelled or ended meanwhile. So a job can be killed at any point and run twice.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Integer, String, and_, bindparam, case, func, literal, select

from feedmill.errors import ConstraintViolated, InfrastructureError
from feedmill.i18n.messages import Message, message_or_none, message_to_stored
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.filters.filter_history import FilterJob, FilterJobKind
from feedmill.model.timestamps import to_iso
from feedmill.store.columns import Id, Word, ascii_text, exact_text
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_new, insert_selected, one_of
from feedmill.store.json_rows import as_rows, json_rows
from feedmill.store.leases import Leases
from feedmill.store.schema import filter_effects, filter_jobs, filters
from feedmill.store.search.index_completeness import IS_INCOMPLETE

_job = filter_jobs.c
_shown = ("id", "filter_id", "kind", "status", "total", "looked_at", "changed", "undoes_job_id", "created_at")
# Entries that are not indexed yet would be left out for good.
_waits_for_index = and_(_job.kind == "apply", IS_INCOMPLETE)
_listed = select(
    *(_job[name] for name in _shown),
    _job.finished_at,
    _job.last_error,
    filters.c.name.label("filter_name"),
    case((and_(_job.status == "running", _waits_for_index), 1), else_=0).label("waits_for_index"),
).join(filters, filters.c.id == _job.filter_id)
_own = _job.user_id == bindparam("of_user")

START = insert_new(
    filter_jobs, "user_id", "filter_id", "kind", "running_key", "undoes_job_id", "created_at", "next_attempt_at"
)
BY_KEY = _listed.where(_job.running_key == bindparam("running_key"))
ONE = _listed.where(_own, _job.id == bindparam("job"))
OF_FILTER = (
    _listed.where(_own, _job.filter_id == bindparam("of_filter"))
    .order_by(_job.id.desc())
    .limit(bindparam("most", type_=Integer))
)
RUNNING = _listed.where(_own, _job.status == "running").order_by(_job.id.desc())
_ended: dict[str, Any] = {"finished_at": bindparam("at"), "running_key": None, "claim_token": None}
CANCEL = (
    filter_jobs.update()
    .where(_own, _job.id == bindparam("job"), _job.status == "running")
    .values(status="cancelled", **_ended)
)
END = (
    filter_jobs.update()
    .where(_own, _job.filter_id == bindparam("of_filter"), one_of(_job.kind, "kinds"), _job.status == "running")
    .values(status="cancelled", **_ended)
)

# A filter has one note at most, like a running job: a later one takes its place.
_note = json_rows(
    "notes", Column("filter_id", Id), Column("running_key", ascii_text(64)), Column("reason", exact_text(512))
)
DROP_NOTES = filter_jobs.delete().where(one_of(_job.running_key, "keys"))
ADD_NOTES = insert_selected(
    filter_jobs,
    select(
        filters.c.user_id.label("a"),
        filters.c.id.label("b"),
        literal("apply", Word).label("c"),
        literal("cancelled", Word).label("d"),
        _note.c.running_key.label("e"),
        bindparam("at", type_=String).label("f"),
        bindparam("at", type_=String).label("g"),
        _note.c.reason.label("h"),
    ).select_from(_note.join(filters, filters.c.id == _note.c.filter_id)),
    "user_id",
    "filter_id",
    "kind",
    "status",
    "running_key",
    "created_at",
    "finished_at",
    "last_error",
)

_due = and_(_job.status == "running", _job.next_attempt_at <= bindparam("now"), ~_waits_for_index)
WAITING = select(_job.id).where(_due).order_by(_job.next_attempt_at, _job.id).limit(bindparam("most", type_=Integer))
LEASES = Leases(filter_jobs, _job.id, _due, WAITING, select(filter_jobs).order_by(_job.id), _job.attempts)
release_filter_jobs = LEASES.release
# NULL, which the column rejects, unless the claim still holds: then the whole batch is rolled back.
_claim_check = case((_job.claim_token == bindparam("token"), 0), else_=None)
_the_claimed = filter_jobs.update().where(_job.id == bindparam("job"))
# The check comes first: MySQL reads a column that was assigned further left with its new value.
ADVANCE = _the_claimed.ordered_values(
    ("claim_check", _claim_check),
    ("chunk_start", bindparam("new_start")),
    ("total", bindparam("new_total")),
    ("looked_at", _job.looked_at + bindparam("more_looked_at", type_=Integer)),
    ("changed", _job.changed + bindparam("more_changed", type_=Integer)),
    ("next_attempt_at", bindparam("until")),
    ("attempts", 0),
    ("last_error", None),
)
_changed = select(func.count(filter_effects.c.entry_id.distinct())).where(
    filter_effects.c.user_id == _job.user_id,
    filter_effects.c.job_id == _job.id,
    one_of(filter_effects.c.action, "actions"),
    one_of(filter_effects.c.entry_id, "ids"),
)
COUNT_CHANGED = _the_claimed.values(changed=_job.changed + _changed.scalar_subquery())
_still_claimed = _the_claimed.where(_job.claim_token == bindparam("token"))
STILL_CLAIMED = select(_job.id).where(_job.id == bindparam("job"), _job.claim_token == bindparam("token"))
FINISH = _still_claimed.values(status="done", **_ended)
# It stays claimed, and is tried again when the lease ends.
RECORD_ERROR = _still_claimed.values(last_error=bindparam("reason"))
FAIL = _still_claimed.values(status="failed", last_error=bindparam("reason"), **_ended)


class FilterJobLost(InfrastructureError):
    """The job was cancelled or taken over; nothing of the chunk was written."""


class ClaimedFilterJob(NamedTuple):
    """A job leased by this process; only `token` can advance it."""

    id: int
    token: str
    user_id: int
    filter_id: int
    kind: FilterJobKind
    undoes_job_id: int | None
    total: int
    chunk_start: str
    attempts: int
    last_error: str | None


class ChunkProgress(NamedTuple):
    """Where the next chunk begins, and how many entries this one looked at and changed."""

    chunk_start: str
    looked_at: int
    changed: int = 0


async def start_filter_job(
    db: Database, user_id: int, filter_id: int, kind: FilterJobKind, now: datetime, undoes: int | None = None
) -> FilterJob:
    """Starts a job, or joins the running one of the same kind and subject.

    A revert joins none: it ends those that apply the filter, and an earlier revert, which may leave what came since.
    """
    at, running_key = to_iso(now), f"{kind}:{filter_id}" + (f":{undoes}" if undoes else "")
    row = {
        "user_id": user_id,
        "filter_id": filter_id,
        "kind": kind,
        "running_key": running_key,
        "undoes_job_id": undoes,
        "created_at": at,
        "next_attempt_at": at,
    }
    ended = [step_to_end_jobs(user_id, filter_id, ["apply", "revert"], now)] if kind == "revert" else []
    if kind == "apply":
        ended = [Step(DROP_NOTES, {"keys": as_list([_note_key(filter_id)])})]
    while True:
        await db.batch([*ended, Step(START, row)])
        # None is found if the running job has ended meanwhile; then try again.
        for found in await db.query(BY_KEY, {"running_key": running_key}):
            return _to_job(found)


def step_to_end_jobs(user_id: int, filter_id: int, kinds: Sequence[FilterJobKind], now: datetime) -> Step:
    """Ends the running jobs of these kinds of a filter; what they did stays."""
    row = {
        "of_user": user_id,
        "of_filter": filter_id,
        "kinds": as_list([str(kind) for kind in kinds]),
        "at": to_iso(now),
    }
    return Step(END, row)


def steps_to_note_untried(untried: Mapping[int, int], now: datetime) -> list[Step]:
    """Notes among the jobs of filters, by id, that they left out so many new entries, until they are applied again."""
    if not untried:
        return []
    rows = [
        (filter_id, _note_key(filter_id), message_to_stored(Message("job.regexes_too_slow", n=n)))
        for filter_id, n in sorted(untried.items())
    ]
    return [
        Step(DROP_NOTES, {"keys": as_list([_note_key(filter_id) for filter_id in sorted(untried)])}),
        *(Step(ADD_NOTES, {"notes": some, "at": to_iso(now)}) for some in as_rows(rows)),
    ]


def _note_key(filter_id: int) -> str:
    return f"untried:{filter_id}"


async def filter_job_of(db: Database, user_id: int, job_id: int) -> FilterJob | None:
    rows = await db.query(ONE, {"of_user": user_id, "job": job_id})
    return _to_job(rows[0]) if rows else None


async def filter_jobs_of(db: Database, user_id: int, filter_id: int, most: int) -> list[FilterJob]:
    """The jobs of a filter, the newest first."""
    rows = await db.query(OF_FILTER, {"of_user": user_id, "of_filter": filter_id, "most": most})
    return [_to_job(row) for row in rows]


async def running_filter_jobs(db: Database, user_id: int) -> list[FilterJob]:
    return [_to_job(row) for row in await db.query(RUNNING, {"of_user": user_id})]


async def cancel_filter_job(db: Database, user_id: int, job_id: int, now: datetime) -> bool:
    """Ends the job; what it did stays. False when it had ended already."""
    return await db.batch([Step(CANCEL, {"of_user": user_id, "job": job_id, "at": to_iso(now)})]) == [1]


async def take_filter_job(db: Database, now: datetime) -> ClaimedFilterJob | None:
    """Claims a waiting job, or one whose process died; nobody else gets it until the lease ends.

    Jobs that apply a filter wait until all stored entries are in the search index.
    """
    token, rows = await LEASES.take(db, now, most=1)
    return _to_claimed(rows[0], token) if rows else None


async def advance_filter_job(
    db: Database, job: ClaimedFilterJob, progress: ChunkProgress, until: datetime, steps: Sequence[Step]
) -> ClaimedFilterJob:
    """Runs the steps of a chunk and moves the job on, in one batch; raises `FilterJobLost` if its claim is lost."""
    row = {
        "job": job.id,
        "token": job.token,
        "new_start": progress.chunk_start,
        "new_total": job.total,
        "more_looked_at": progress.looked_at,
        "more_changed": progress.changed,
        "until": to_iso(until),
    }
    try:
        await db.batch([Step(ADVANCE, row), *steps])
    except ConstraintViolated as error:
        if await db.query(STILL_CLAIMED, {"job": job.id, "token": job.token}):
            raise
        raise FilterJobLost(f"filter job {job.id}: {error}") from error
    return job._replace(chunk_start=progress.chunk_start, attempts=1)


def step_to_count_changed(job: ClaimedFilterJob, ids: Sequence[int]) -> Step:
    """Counts those of these entries that the job has changed; it follows the steps that change them."""
    row = {"job": job.id, "ids": as_list(list(ids)), "actions": as_list([str(action) for action in FilterAction])}
    return Step(COUNT_CHANGED, row)


async def finish_filter_job(db: Database, job: ClaimedFilterJob, now: datetime) -> None:
    await db.batch([Step(FINISH, {"job": job.id, "token": job.token, "at": to_iso(now)})])


async def record_job_error(db: Database, job: ClaimedFilterJob, reason: Message) -> None:
    """Records why an attempt failed; the job is taken again when the lease ends."""
    row = {"job": job.id, "token": job.token, "reason": message_to_stored(reason)}
    await db.batch([Step(RECORD_ERROR, row)])


async def fail_filter_job(db: Database, job: ClaimedFilterJob, reason: Message, now: datetime) -> None:
    """Ends a job that fails again and again; what it did stays."""
    row = {"job": job.id, "token": job.token, "reason": message_to_stored(reason), "at": to_iso(now)}
    await db.batch([Step(FAIL, row)])


def _to_job(row: Row) -> FilterJob:
    converted = {
        "last_error": message_or_none(row["last_error"]),
        "waits_for_index": bool(row["waits_for_index"]),
    }
    return FilterJob(**{**row, **converted})


def _to_claimed(row: Row, token: str) -> ClaimedFilterJob:
    return ClaimedFilterJob(token=token, **{name: row[name] for name in ClaimedFilterJob._fields if name != "token"})
