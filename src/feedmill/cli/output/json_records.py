"""Feeds and fetches as JSON. Scripts rely on these keys: add new ones, never rename."""

import json
from datetime import datetime
from typing import Any

from feedmill.cli.output.print_text import print_json_line
from feedmill.i18n.messages import Message
from feedmill.model.feed import Feed, feed_state
from feedmill.model.refresh import FetchLogLine
from feedmill.model.timestamps import iso_or_none, to_iso


def feed_record(feed: Feed, now: datetime) -> dict[str, Any]:
    return {
        "id": feed.id,
        "url": feed.url,
        "title": feed.name,
        "folder": list(feed.folder),
        "site_url": feed.site_url,
        "state": feed_state(feed, now),
        "status": feed.status,
        "entries": feed.entry_count,
        "last_fetched_at": iso_or_none(feed.last_fetched_at),
        "last_success_at": iso_or_none(feed.last_success_at),
        "last_entry_at": iso_or_none(feed.last_entry_at),
        "next_fetch_at": iso_or_none(feed.next_fetch_at),
        "next_fetch_why": _text(feed.next_fetch_why),
        "interval_seconds": int(feed.interval.total_seconds()) if feed.interval else None,
        "consecutive_failures": feed.consecutive_failures,
        "last_error": _text(feed.last_error),
        "last_error_kind": feed.last_error_kind,
        "moved_to": feed.moved_to,
        "archive_policy": feed.archive_policy,
        "added_by_person": feed.added_by_person,
        "declared": feed.declared,
        "created_at": to_iso(feed.created_at),
    }


def fetch_record(fetch: FetchLogLine) -> dict[str, Any]:
    return {name: getattr(fetch, name) for name in fetch.__slots__} | {
        "at": to_iso(fetch.at),
        "message": _text(fetch.message),
    }


def _text(message: Message | None) -> str | None:
    return None if message is None else str(message)


def print_record(record: dict[str, Any]) -> None:
    print_json_line(json.dumps(record, ensure_ascii=False))
