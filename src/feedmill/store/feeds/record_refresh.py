"""Writes the outcome of a refresh in one atomic batch that fails unless the claim still holds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Update, and_, bindparam, case, func

from feedmill.errors import ConstraintViolated, InfrastructureError
from feedmill.i18n.messages import Message, message_to_stored, stored_or_none
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import ERROR_AFTER, Claim, FeedStatus
from feedmill.model.hosts import host_of
from feedmill.model.raw_body import INCOMPLETE
from feedmill.model.refresh import (
    EntryDiff,
    Failed,
    FeedMetadata,
    FeedMove,
    FetchStats,
    Postponed,
    RawBody,
    RefreshDecision,
    Schedule,
    Unchanged,
    Updated,
)
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, independent, insert, one_of
from feedmill.store.entries.add_entries import steps_to_add_entries, steps_to_add_revisions
from feedmill.store.entries.change_guids import steps_to_change_guids
from feedmill.store.feeds.add_feeds import steps_to_add_redirect_target
from feedmill.store.feeds.claims import CLAIM_CHECK, read_claim
from feedmill.store.feeds.url_history import step_to_add_former_url, step_to_update_moved_to
from feedmill.store.schema import entries, feeds, fetch_log, raw_bodies
from feedmill.store.search.index import text_size

log = get_logger(__name__)

TRUNCATED = Message("fetch.truncated")
OVERFLOWS = Message("fetch.overflows")


class ClaimLost(InfrastructureError):
    """The claim was lost, or the feed was deleted; nothing was written."""


def _feed_update(off: ColumnElement[bool], *names: str, **computed: Any) -> Update:
    """An update of the feed that fails without the claim and releases it; a disabled feed stays disabled."""
    # The claim check comes first: MySQL reads a column that was assigned further left with its new value.
    values: list[tuple[str, Any]] = [
        ("claim_check", CLAIM_CHECK),
        ("next_fetch_at", case((off, None), else_=bindparam("next_fetch_at"))),
        ("next_fetch_why", case((off, feeds.c.next_fetch_why), else_=bindparam("next_fetch_why"))),
        *((name, bindparam(name)) for name in names),
        *computed.items(),
    ]
    freed = [("claim_token", None), ("claimed_until", None)]
    update = feeds.update().where(feeds.c.id == bindparam("feed_id")).ordered_values(*values, *freed)
    return independent(update)  # type: ignore[no-any-return]


# A success enables a feed that a 410 disabled, but not one that a person disabled, perhaps during this fetch.
_is_disabled = feeds.c.status == FeedStatus.DISABLED
_is_disabled_by_person = and_(_is_disabled, feeds.c.gone_since.is_(None))
_success = ("etag", "last_modified", "last_fetched_at", "last_success_at", "moved_to", "moved_count", "pushed_until")
_reset_failures: dict[str, Any] = {
    "status": case((_is_disabled_by_person, FeedStatus.DISABLED), else_=FeedStatus.ACTIVE),
    "consecutive_failures": 0,
    "gone_since": None,
    **{name: func.coalesce(bindparam(f"new_{name}"), feeds.c[name]) for name in ("url", "host", "certificate_until")},
}
_error = ("last_error", "last_error_kind", "truncated_count")
_metadata_columns = ("title", "site_url", "description", "language", "icon_url", "image_url", "hub_url", "topic_url")

FEED_UPDATED = _feed_update(
    _is_disabled_by_person,
    *_success,
    *_error,
    "body_sha256",
    "usual_gap_seconds",
    "polling_hints",
    **_reset_failures,
    **{name: func.coalesce(bindparam(name), feeds.c[name]) for name in _metadata_columns},
    last_entry_at=func.coalesce(bindparam("last_entry_at"), feeds.c.last_entry_at),
    entry_count=feeds.c.entry_count + bindparam("new_entries"),
)
FEED_UNCHANGED = _feed_update(
    _is_disabled_by_person, *_success, **_reset_failures, last_error=None, last_error_kind=None, truncated_count=0
)
FEED_FAILED = _feed_update(
    _is_disabled,
    "last_fetched_at",
    "consecutive_failures",
    "last_error",
    "last_error_kind",
    "gone_since",
    "body_sha256",
    "etag",
    "last_modified",
    status=case((_is_disabled, FeedStatus.DISABLED), else_=bindparam("new_status")),
)
FEED_POSTPONED = _feed_update(_is_disabled)
LOG = independent(
    insert(
        fetch_log, "feed_id", "at", "outcome", "http_status", "bytes", "ms", "new_entries", "revised_entries", "message"
    )
)
_presence: dict[str, Any] = {"in_feed": bindparam("present"), "last_seen_at": bindparam("at")}
SEEN = entries.update().where(one_of(entries.c.id, "ids")).values(_presence)
RAW = insert(
    raw_bodies,
    "feed_id",
    "key",
    "fetched_at",
    "http_status",
    "headers",
    "sha256",
    "size",
    "parse_result",
    "entry_count",
    "new_entries",
)


async def record_refresh(db: Database, claim: Claim, decision: RefreshDecision, extra: Sequence[Step] = ()) -> None:
    """Writes the decision and releases the claim in one batch; raises `ClaimLost` if it was lost."""
    await write_if_claimed(db, claim, [*await _prepare(claim, decision), *extra])


async def write_if_claimed(db: Database, claim: Claim, steps: Sequence[Step]) -> None:
    """Runs a batch that contains the claim check; raises `ClaimLost` if the claim check rolled it back."""
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        if await read_claim(db, claim.feed.id, claim.token) is not None:
            raise
        raise ClaimLost(f"feed {claim.feed.id}: {error}") from error


async def postpone_feeds(db: Database, waits: Sequence[tuple[Claim, Schedule]]) -> None:
    """Releases feeds that were not fetched, each with a new due time."""
    rows = [_base(claim, Postponed(schedule)) for claim, schedule in waits]
    try:
        await db.batch([Step(FEED_POSTPONED, rows)])
    except ConstraintViolated as error:
        log.warning("feeds_not_postponed", feeds=len(waits), reason=str(error))


async def _prepare(claim: Claim, decision: RefreshDecision) -> list[Step]:
    """The steps, made in a thread if there is much text to tokenize."""
    return await run_in_thread_if_large(_size_to_tokenize(decision), _steps, claim, decision)


def _size_to_tokenize(decision: RefreshDecision) -> int:
    """About how many characters are to be tokenized; filters may have done so with new entries."""
    if not isinstance(decision, Updated):
        return 0
    changes = decision.changes
    return text_size([*(entry for entry in changes.new if entry.guid not in changes.words), *changes.revised])


def _steps(claim: Claim, decision: RefreshDecision) -> list[Step]:
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
    outcome = "not_modified" if unchanged.stats.http_status == 304 else "same"
    return [
        Step(FEED_UNCHANGED, _success_values(claim, unchanged)),
        *_moved(claim, unchanged.move, unchanged.stats),
        _log(claim, unchanged.stats, outcome),
    ]


def _updated(claim: Claim, updated: Updated) -> list[Step]:
    changes, stats = updated.changes, updated.stats
    feed = _success_values(claim, updated) | {
        "body_sha256": updated.body_sha256,
        "usual_gap_seconds": None if updated.usual_gap is None else int(updated.usual_gap.total_seconds()),
        "polling_hints": updated.polling_hints,
        "last_entry_at": iso_or_none(updated.last_entry_at),
        "new_entries": len(changes.new),
        "last_error": message_to_stored(TRUNCATED) if updated.truncated else None,
        "last_error_kind": INCOMPLETE if updated.truncated else None,
        "truncated_count": claim.feed.truncated_count + 1 if updated.truncated else 0,
        **_metadata_values(updated.metadata),
    }
    outcome = INCOMPLETE if updated.truncated else "pushed" if updated.is_push else "updated"
    log = _log(claim, stats, outcome, len(changes.new), len(changes.revised), _remark(updated))
    return [
        Step(FEED_UPDATED, feed),
        *_moved(claim, updated.move, stats),
        *steps_to_change_guids(claim.feed.id, changes.changed_guids, to_iso(stats.at)),
        *steps_to_add_entries(
            claim.feed.id,
            claim.token,
            changes.new,
            to_iso(stats.at),
            in_feed=True,
            defers_unread=updated.defers_unread,
            words=changes.words,
        ),
        *steps_to_add_revisions(changes.revised, to_iso(stats.at)),
        *_seen(changes, stats),
        *_raw(claim, updated.raw, INCOMPLETE if updated.truncated else "ok", updated.entry_count, len(changes.new)),
        log,
    ]


def _remark(updated: Updated) -> Message | None:
    """What the log says of a response that was read."""
    if updated.truncated:
        return TRUNCATED
    if changed := updated.changes.changed_guids:
        return Message("fetch.repeated", n=len(changed))
    return OVERFLOWS if updated.changes.overflows else None


def _seen(changes: EntryDiff, stats: FetchStats) -> list[Step]:
    lists = [(1, changes.returned), (0, changes.dropped)]
    return [
        Step(SEEN, {"ids": as_list(list(ids)), "present": present, "at": to_iso(stats.at)})
        for present, ids in lists
        if ids
    ]


def _failed(claim: Claim, failed: Failed) -> list[Step]:
    feed = claim.feed
    failures = feed.consecutive_failures + int(failed.counted)
    status = FeedStatus.ERROR if failures >= ERROR_AFTER else feed.status
    understood = failed.body_sha256 is None
    values = _base(claim, failed) | {
        "last_fetched_at": to_iso(failed.stats.at),
        "new_status": FeedStatus.DISABLED if failed.disables else status,
        "consecutive_failures": failures,
        "last_error": message_to_stored(failed.message),
        "last_error_kind": failed.kind,
        "gone_since": iso_or_none(failed.gone_since or (feed.gone_since if feed.status == "disabled" else None)),
        "body_sha256": failed.body_sha256 or feed.body_sha256,
        # A body that was not parsed must be fetched again.
        "etag": feed.etag if understood else None,
        "last_modified": feed.last_modified if understood else None,
    }
    return [
        Step(FEED_FAILED, values),
        *_raw(claim, failed.raw, message_to_stored(failed.message), 0, 0),
        _log(claim, failed.stats, failed.kind, message=failed.message),
    ]


def _raw(claim: Claim, raw: RawBody | None, parse_result: str, entry_count: int, new_entries: int) -> list[Step]:
    if raw is None:
        return []
    row = asdict(raw) | {
        "feed_id": claim.feed.id,
        "fetched_at": to_iso(raw.fetched_at),
        "parse_result": parse_result,
        "entry_count": entry_count,
        "new_entries": new_entries,
    }
    return [Step(RAW, row)]


def _moved(claim: Claim, move: FeedMove, stats: FetchStats) -> list[Step]:
    if move.needs_target and move.to is not None:
        return steps_to_add_redirect_target(move.to, claim.feed.url, stats.at)
    if not move.settled or move.to is None:
        return []
    return [
        step_to_add_former_url(claim.feed.id, claim.feed.url, stats.at),
        step_to_update_moved_to(claim.feed.id, move.to),
    ]


def _log(
    claim: Claim,
    stats: FetchStats,
    outcome: str,
    new_entries: int = 0,
    revised_entries: int = 0,
    message: Message | None = None,
) -> Step:
    line = {
        "feed_id": claim.feed.id,
        "at": to_iso(stats.at),
        "outcome": outcome,
        "http_status": stats.http_status,
        "bytes": stats.bytes,
        "ms": round(stats.elapsed.total_seconds() * 1000),
        "new_entries": new_entries,
        "revised_entries": revised_entries,
        "message": stored_or_none(message),
    }
    return Step(LOG, line)


# --- values -> parameters ---------------------------------------------------------------------------------


def _base(claim: Claim, decision: RefreshDecision) -> dict[str, Any]:
    return {
        "feed_id": claim.feed.id,
        "token": claim.token,
        "next_fetch_at": iso_or_none(decision.schedule.at),
        "next_fetch_why": message_to_stored(decision.schedule.why),
    }


def _success_values(claim: Claim, success: Updated | Unchanged) -> dict[str, Any]:
    move, at = success.move, to_iso(success.stats.at)
    settled = move.to is not None and move.settled
    # Nothing of the response is stored before a merge: what came to the other feed since is new to these subscribers.
    is_stored = move.merges_with is None
    return _base(claim, success) | {
        "etag": success.etag,
        "last_modified": success.last_modified,
        "last_fetched_at": at,
        "last_success_at": at if is_stored else iso_or_none(claim.feed.last_success_at),
        "pushed_until": iso_or_none(success.pushed_until),
        "moved_to": None if settled else move.to,
        "moved_count": 0 if settled else move.times,
        "new_certificate_until": iso_or_none(success.stats.certificate_until),
        "new_url": move.to if settled else None,
        "new_host": host_of(move.to) if settled and move.to else None,
    }


def _metadata_values(metadata: FeedMetadata) -> Mapping[str, Any]:
    return {name: getattr(metadata, name) for name in _metadata_columns}
