"""Filters, jobs and trials as JSON and as text. Scripts rely on these keys: add new ones, never rename."""

from datetime import datetime
from typing import Any

from feedmill.cli.output.format_text import pluralize
from feedmill.cli.output.relative_times import time_ago
from feedmill.library.filters.try_filter import FilterTrial
from feedmill.model.filters.entry_filter import EntryFilter, FilterActions, FilterKind, FilterScope, ScopeKind
from feedmill.model.filters.filter_history import FilterJob
from feedmill.model.timestamps import from_iso

COLUMNS = ("id", "name", "condition", "where", "does", "state", "hits", "last")
_DID = {"apply": "changed", "undo": "restored", "revert": "restored"}


def filter_record(each: EntryFilter) -> dict[str, Any]:
    return {
        "id": each.id,
        "kind": each.kind,
        "name": each.name,
        "condition": each.condition,
        "scope": each.scope.kind,
        "scope_id": each.scope.id,
        "actions": list(dict.fromkeys(str(action) for action, _ in each.actions.targets)),
        "label_ids": list(each.actions.label_ids),
        "pool_group_ids": list(each.actions.pool_group_ids),
        "service_ids": list(each.actions.service_ids),
        "stops": each.stops,
        "enabled": each.enabled,
        "expires_at": each.expires_at,
        "hits": each.hit_count,
        "last_hit_at": each.last_hit_at,
        "created_at": each.created_at,
    }


def filter_row(each: EntryFilter, now: datetime) -> tuple[str, ...]:
    last = time_ago(from_iso(each.last_hit_at), now) if each.last_hit_at else "never"
    does = actions_text(each.actions) + (", stop" if each.stops and each.kind is FilterKind.FILTER else "")
    where = scope_text(each.scope)
    return str(each.id), each.name, each.condition, where, does, state_text(each, now), str(each.hit_count), last


def actions_text(actions: FilterActions) -> str:
    """`star, label 3`"""
    return ", ".join(f"{action} {target}" if target else str(action) for action, target in actions.targets)


def scope_text(scope: FilterScope) -> str:
    if scope.kind is ScopeKind.ALL:
        return "all"
    return f"{scope.kind} {scope.id}" if scope.id else f"{scope.kind} (deleted)"


def state_text(each: EntryFilter, now: datetime) -> str:
    if not each.enabled:
        return "off"
    return "ended" if each.is_expired(now) else "on"


def job_record(job: FilterJob) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "filter_id": job.filter_id,
        "kind": job.kind,
        "status": job.status,
        "total": job.total,
        "looked_at": job.looked_at,
        "changed": job.changed,
        "created_at": job.created_at,
        "finished_at": job.finished_at,
        "error": str(job.last_error) if job.last_error else None,
    }


def job_text(job: FilterJob) -> str:
    """`job 3: 12 entries changed`"""
    counted = f"{pluralize(job.changed, 'entry', 'entries')} {_DID[job.kind]}"
    match job.status:
        case "done":
            return f"job {job.id}: {counted}"
        case "failed":
            return f"job {job.id} failed after {counted}: {job.last_error}"
        case _:
            return f"job {job.id} ({job.kind}) is {job.status}: {counted}"


def trial_record(trial: FilterTrial, first: int) -> dict[str, Any]:
    return {
        "total": trial.total,
        "is_complete": trial.is_complete,
        "oldest_at": trial.oldest_at,
        "looked_at": trial.looked_at,
        "feeds": [
            {"subscription_id": each.subscription_id, "title": each.title, "count": each.count} for each in trial.feeds
        ],
        "entries": [
            {"id": each.id, "title": each.title, "feed": each.feed_title, "published_at": each.published_at}
            for each in trial.entries[:first]
        ],
    }
