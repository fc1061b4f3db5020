"""THE atomic write: what a refresh decided, all of it or nothing, and only by who still holds the claim."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Update, and_, bindparam, case, func, literal, select, union_all

from feedmill.errors import ConstraintViolated, InfrastructureError
from feedmill.model.feed import ERROR_AFTER, Claim, FeedStatus
from feedmill.model.refresh import (
    Changes,
    Decision,
    Failed,
    FeedFacts,
    Known,
    Move,
    Postponed,
    RawBody,
    Schedule,
    Unchanged,
    Updated,
    Visit,
)
from feedmill.model.sentences import to_stored
from feedmill.model.times import text_or_none, to_text
from feedmill.store.claims import FENCE, read_claim
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert, one_of
from feedmill.store.entry_rows import add_entries, add_revisions
from feedmill.store.feeds import host_of
from feedmill.store.schema import (
    entries,
    feed_urls,
    feeds,
    fetch_log,
    raw_bodies,
    tombstones,
)

log = structlog.get_logger(__name__)

MANY_ENTRIES = 50


class ClaimLost(InfrastructureError):
    """Somebody else holds the feed now, or it is gone; nothing was written."""


# --- reading what is known --------------------------------------------------------------------------------

_known = select(entries.c.id, entries.c.guid, entries.c.digest, entries.c.in_feed, entries.c.revision_count)
IN_FEED = _known.where(entries.c.feed_id == bindparam("feed_id"), entries.c.in_feed == 1)
BY_GUID = union_all(
    _known.where(entries.c.feed_id == bindparam("feed_id"), one_of(entries.c.guid, "guids")),
    select(literal(0), tombstones.c.guid, literal(""), literal(0), literal(0)).where(
        tombstones.c.feed_id == bindparam("feed_id"), one_of(tombstones.c.guid, "guids")
    ),
)


async def find_known(db: Database, feed_id: int, guids: Sequence[str]) -> tuple[dict[str, Known], set[str]]:
    """What the store has of these entries and of the feed's last answer; and which of them were purged."""
    rows = list(await db.query(IN_FEED, {"feed_id": feed_id}))
    seen = {row["guid"] for row in rows}
    if missing := [guid for guid in guids if guid not in seen]:
        rows += await db.query(BY_GUID, {"feed_id": feed_id, "guids": as_list(missing)})
    purged = {row["guid"] for row in rows if not row["id"]}
    known = {
        row["guid"]: Known(row["id"], row["digest"], bool(row["in_feed"]), row["revision_count"])
        for row in rows
        if row["id"]
    }
    return known, purged


# --- the write --------------------------------------------------------------------------------------------


def _feed_update(off: ColumnElement[bool], *names: str, **computed: Any) -> Update:
    """An update of the claimed feed that fails without the claim and gives it back; one that is off stays off."""
    # The fence first: MySQL reads a column that was set further left in its new value.
    values: list[tuple[str, Any]] = [
        ("fence", FENCE),
        ("next_fetch_at", case((off, None), else_=bindparam("next_fetch_at"))),
        ("next_fetch_why", case((off, feeds.c.next_fetch_why), else_=bindparam("next_fetch_why"))),
        *((name, bindparam(name)) for name in names),
        *computed.items(),
    ]
    freed = [("claim_token", None), ("claimed_until", None)]
    return feeds.update().where(feeds.c.id == bindparam("feed_id")).ordered_values(*values, *freed)


# What a person switched off, perhaps during this very fetch, a success does not switch on; what a 410 did, it does.
_off = feeds.c.status == FeedStatus.DISABLED
_off_by_a_person = and_(_off, feeds.c.gone_since.is_(None))
_success = ("etag", "last_modified", "last_fetched_at", "last_success_at", "moved_to", "moved_times")
_healed: dict[str, Any] = {
    "status": case((_off_by_a_person, FeedStatus.DISABLED), else_=FeedStatus.ACTIVE),
    "consecutive_failures": 0, "last_error": None, "last_error_kind": None, "gone_since": None,
    **{name: func.coalesce(bindparam(f"new_{name}"), feeds.c[name]) for name in ("url", "host", "certificate_until")},
}  # fmt: skip
_facts = ("title", "site_url", "description", "language", "icon_url", "image_url", "hub_url")

FEED_UPDATED = _feed_update(
    _off_by_a_person,
    *_success,
    "body_sha256",
    "rhythm_seconds",
    "wishes",
    **_healed,
    **{name: func.coalesce(bindparam(name), feeds.c[name]) for name in _facts},
    last_entry_at=func.coalesce(bindparam("last_entry_at"), feeds.c.last_entry_at),
    entry_count=feeds.c.entry_count + bindparam("new_entries"),
)
FEED_UNCHANGED = _feed_update(_off_by_a_person, *_success, **_healed)
FEED_FAILED = _feed_update(
    _off, "last_fetched_at", "consecutive_failures", "last_error", "last_error_kind", "gone_since", "body_sha256",
    "etag", "last_modified",
    status=case((_off, FeedStatus.DISABLED), else_=bindparam("new_status")),
)  # fmt: skip
FEED_POSTPONED = _feed_update(_off)
LOG = insert(
    fetch_log, "feed_id", "at", "outcome", "http_status", "bytes", "ms", "new_entries", "revised_entries", "message"
)
_presence: dict[str, Any] = {"in_feed": bindparam("present"), "last_seen_at": bindparam("at")}
SEEN = entries.update().where(one_of(entries.c.id, "ids")).values(_presence)
RAW = insert(
    raw_bodies, "feed_id", "key", "fetched_at", "http_status", "headers", "sha256", "size", "parse_result",
    "entry_count", "new_entries",
)  # fmt: skip
OLD_URL = insert(feed_urls, "feed_id", "url", "until")


async def record(db: Database, claim: Claim, decision: Decision, extra: Sequence[Step] = ()) -> None:
    """Writes the decision and gives the claim back, in one batch; raises `ClaimLost` if it was lost."""
    await write_fenced(db, claim, [*await _prepare(claim, decision), *extra])


async def write_fenced(db: Database, claim: Claim, steps: Sequence[Step]) -> None:
    """Runs a batch that has the fence in it; raises `ClaimLost` if it was undone because of that."""
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        if await read_claim(db, claim.feed.id, claim.token) is not None:
            raise
        raise ClaimLost(f"feed {claim.feed.id}: {error}") from error


async def put_off(db: Database, waits: Sequence[tuple[Claim, Schedule]]) -> None:
    """Gives feeds back that were not asked, each due at another time."""
    rows = [_base(claim, Postponed(schedule)) for claim, schedule in waits]
    try:
        await db.batch([Step(FEED_POSTPONED, rows)])
    except ConstraintViolated as error:
        log.warning("feeds could not be put off; their claims end by themselves", reason=str(error))


async def _prepare(claim: Claim, decision: Decision) -> list[Step]:
    """The steps, made in a thread when there is much text to cut into words."""
    if isinstance(decision, Updated) and len(decision.changes.new) + len(decision.changes.revised) > MANY_ENTRIES:
        return await asyncio.to_thread(_steps, claim, decision)
    return _steps(claim, decision)


def _steps(claim: Claim, decision: Decision) -> list[Step]:
    match decision:
        case Updated():
            return _updated(claim, decision)
        case Unchanged():
            return _unchanged(claim, decision)
        case Failed():
            return _failed(claim, decision)
        case Postponed():
            return [Step(FEED_POSTPONED, _base(claim, decision))]


def _unchanged(claim: Claim, unchanged: Unchanged) -> list[Step]:
    outcome = "not_modified" if unchanged.visit.http_status == 304 else "same"
    return [
        Step(FEED_UNCHANGED, _success_values(claim, unchanged)),
        *_moved(claim, unchanged.move, unchanged.visit),
        _log(claim, unchanged.visit, outcome),
    ]


def _updated(claim: Claim, updated: Updated) -> list[Step]:
    changes, visit = updated.changes, updated.visit
    feed = _success_values(claim, updated) | {
        "body_sha256": updated.body_sha256,
        "rhythm_seconds": None if updated.rhythm is None else int(updated.rhythm.total_seconds()),
        "wishes": updated.wishes,
        "last_entry_at": text_or_none(updated.last_entry_at),
        "new_entries": len(changes.new),
        **_facts_values(updated.facts),
    }
    message = "shares no entry with its last answer: some may have come and gone unseen" if changes.overflows else None
    log = _log(claim, visit, "updated", len(changes.new), len(changes.revised), message)
    return [
        Step(FEED_UPDATED, feed),
        *_moved(claim, updated.move, visit),
        *add_entries(claim.feed.id, claim.token, changes.new, to_text(visit.at), in_feed=True),
        *add_revisions(changes.revised, to_text(visit.at)),
        *_seen(changes, visit),
        *_raw(claim, updated.raw, "ok", updated.entry_count, len(changes.new)),
        log,
    ]


def _seen(changes: Changes, visit: Visit) -> list[Step]:
    lists = [(1, changes.returned), (0, changes.dropped)]
    return [
        Step(SEEN, {"ids": as_list(list(ids)), "present": present, "at": to_text(visit.at)})
        for present, ids in lists
        if ids
    ]


def _failed(claim: Claim, failed: Failed) -> list[Step]:
    feed = claim.feed
    failures = feed.consecutive_failures + int(failed.counted)
    status = FeedStatus.ERROR if failures >= ERROR_AFTER else feed.status
    understood = failed.body_sha256 is None
    values = _base(claim, failed) | {
        "last_fetched_at": to_text(failed.visit.at),
        "new_status": FeedStatus.DISABLED if failed.disables else status,
        "consecutive_failures": failures,
        "last_error": failed.message,
        "last_error_kind": failed.kind,
        "gone_since": text_or_none(failed.gone_since or (feed.gone_since if feed.status == "disabled" else None)),
        "body_sha256": failed.body_sha256 or feed.body_sha256,
        # A body that was not understood must be offered again.
        "etag": feed.etag if understood else None,
        "last_modified": feed.last_modified if understood else None,
    }
    return [
        Step(FEED_FAILED, values),
        *_raw(claim, failed.raw, failed.message, 0, 0),
        _log(claim, failed.visit, failed.kind, message=failed.message),
    ]


def _raw(claim: Claim, raw: RawBody | None, parse_result: str, entry_count: int, new_entries: int) -> list[Step]:
    if raw is None:
        return []
    row = asdict(raw) | {
        "feed_id": claim.feed.id, "fetched_at": to_text(raw.fetched_at), "parse_result": parse_result,
        "entry_count": entry_count, "new_entries": new_entries,
    }  # fmt: skip
    return [Step(RAW, row)]


def _moved(claim: Claim, move: Move, visit: Visit) -> list[Step]:
    if not move.settled:
        return []
    return [Step(OLD_URL, {"feed_id": claim.feed.id, "url": claim.feed.url, "until": to_text(visit.at)})]


def _log(
    claim: Claim, visit: Visit, outcome: str, new_entries: int = 0, revised_entries: int = 0, message: str | None = None
) -> Step:
    line = {
        "feed_id": claim.feed.id, "at": to_text(visit.at), "outcome": outcome, "http_status": visit.http_status,
        "bytes": visit.bytes, "ms": round(visit.elapsed.total_seconds() * 1000), "new_entries": new_entries,
        "revised_entries": revised_entries, "message": message,
    }  # fmt: skip
    return Step(LOG, line)


# --- values -> parameters ---------------------------------------------------------------------------------


def _base(claim: Claim, decision: Decision) -> dict[str, Any]:
    return {
        "feed_id": claim.feed.id,
        "token": claim.token,
        "next_fetch_at": text_or_none(decision.schedule.at),
        "next_fetch_why": to_stored(decision.schedule.why),
    }


def _success_values(claim: Claim, success: Updated | Unchanged) -> dict[str, Any]:
    move, at = success.move, to_text(success.visit.at)
    settled = move.to is not None and move.settled
    return _base(claim, success) | {
        "etag": success.etag,
        "last_modified": success.last_modified,
        "last_fetched_at": at,
        "last_success_at": at,
        "moved_to": None if settled else move.to,
        "moved_times": 0 if settled else move.times,
        "new_certificate_until": text_or_none(success.visit.certificate_until),
        "new_url": move.to if settled else None,
        "new_host": host_of(move.to) if settled and move.to else None,
    }


def _facts_values(facts: FeedFacts) -> Mapping[str, Any]:
    return {name: getattr(facts, name) for name in _facts}
