"""Every table. The migrations lead here; a test compares the two."""

from feedmill.store.schema.accounts import sessions, sign_in_tries, tokens, users
from feedmill.store.schema.archive import icons, image_tasks, object_garbage, raw_bodies
from feedmill.store.schema.batches import batch_jobs, batches
from feedmill.store.schema.collecting import entries, feed_urls, feeds, fetch_log, revisions, tombstones
from feedmill.store.schema.house import audit, blocked_hosts, facts, locks, migrations
from feedmill.store.schema.pools import pool_groups, pool_items
from feedmill.store.schema.reading import (
    bookmarks,
    entry_labels,
    full_text_tasks,
    full_texts,
    labels,
    saved_searches,
    states,
    unread,
    unread_lists,
)
from feedmill.store.schema.subscribing import folder_subscriptions, folders, subscriptions
from feedmill.store.schema.tables import metadata
from feedmill.store.schema.telling import deliveries, webhooks

__all__ = [
    "audit",
    "batch_jobs",
    "batches",
    "blocked_hosts",
    "bookmarks",
    "deliveries",
    "entries",
    "entry_labels",
    "facts",
    "feed_urls",
    "feeds",
    "fetch_log",
    "folder_subscriptions",
    "folders",
    "full_text_tasks",
    "full_texts",
    "icons",
    "image_tasks",
    "labels",
    "locks",
    "metadata",
    "migrations",
    "object_garbage",
    "pool_groups",
    "pool_items",
    "raw_bodies",
    "revisions",
    "saved_searches",
    "sessions",
    "sign_in_tries",
    "states",
    "subscriptions",
    "tokens",
    "tombstones",
    "unread",
    "unread_lists",
    "users",
    "webhooks",
]
