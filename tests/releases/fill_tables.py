"""Adds a plausible row to each table that has none, so that no table of a release's database is empty."""

from typing import Any

from sqlalchemy import Column, Integer, String, Table, func, select
from sqlalchemy.types import BigInteger

from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import metadata

AT = "2026-11-18T08:00:00.000Z"
LENGTH_OF_TIME = 24
# Columns that refer to a row without a foreign key.
OWNER = {"feed_id": "feeds", "entry_id": "entries", "list_id": "unread_lists", "subscription_id": "subscriptions"}
# Values that the library reads; other columns get a text, a number or a time.
VALUES: dict[str, dict[str, Any]] = {
    "api_keys": {"scopes": '["read"]'},
    "batches": {"kind": "refresh_all", "status": "done"},
    "bookmarks": {"url": "https://example.org/page", "title": "A page", "status": "done"},
    "deliveries": {"event": "new_entries", "status": "success"},
    "feed_urls": {"url": "https://old.example.org/feed"},
    "filter_effects": {"action": "star"},
    "filter_jobs": {"kind": "apply", "status": "done"},
    "hub_pushes": {"headers": "[]", "content_type": "application/rss+xml"},
    "hub_subscriptions": {"hub_url": "https://hub.example.org/", "topic_url": "https://example.org/feed"},
    "icons": {"media_type": "image/png", "data": "iVBORw0KGgo="},
    "identities": {"issuer": "https://login.example.org", "subject": "alice"},
    "locks": {"name": "a lock of the past", "until": AT},
    "notification_targets": {"scheme": "json", "url": "unreadable", "events": "[]", "paused": 1},
    "notifications": {"event": "new_entries"},
    "output_feeds": {"list_kind": "starred"},
    "own_css": {"css": "body { color: black }"},
    "pool_grants": {"access": "take"},
    "pool_lists": {"kind": "titles"},
    "pool_source_tables": {"kind": "titles", "table_name": "texts_of_others"},
    "pool_texts": {"kind": "titles", "text": "A text of another program"},
    "saved_searches": {"name": "Harbour", "query": "harbour"},
    "service_saves": {"status": "done"},
    "services": {"kind": "linkding", "options": "unreadable"},
    "webhooks": {"url": "https://example.org/hook", "events": '["new_entries"]', "paused": 1},
}


async def fill_empty_tables(db: Database) -> None:
    """Parents come before children, so that each reference finds a row."""
    for table in metadata.sorted_tables:
        if not await count_rows(db, table):
            row = await _row(db, table)
            await db.batch([Step(insert(table, *row), row)])


async def count_rows(db: Database, table: Table) -> int:
    [row] = await db.query(select(func.count().label("n")).select_from(table))
    return int(row["n"])


async def _row(db: Database, table: Table) -> dict[str, Any]:
    given = VALUES.get(table.name, {})
    needed = [column for column in table.c if column.name not in given and _is_needed(column)]
    return {**{column.name: await _value(db, column) for column in needed}, **given}


def _is_needed(column: Column[Any]) -> bool:
    is_numbered = column.primary_key and column.autoincrement is True
    return not column.nullable and column.server_default is None and not is_numbered


async def _value(db: Database, column: Column[Any]) -> Any:
    owner = next((key.column for key in column.foreign_keys), None)
    if owner is None and column.name in OWNER:
        owner = metadata.tables[OWNER[column.name]].c.id
    if owner is not None:
        [row] = await db.query(select(func.min(owner).label("first")))
        return row["first"]
    if isinstance(column.type, BigInteger | Integer):
        return 1
    is_time = isinstance(column.type, String) and column.type.length == LENGTH_OF_TIME
    return AT if is_time else f"{column.table.name}: {column.name}"[: getattr(column.type, "length", None)]
