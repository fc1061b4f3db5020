"""All tables; a test compares them with what the migrations create."""

from feedmill.store.schema.admin import audit, blocked_hosts, instance_state, locks, migrations
from feedmill.store.schema.archive import image_tasks, object_garbage, raw_bodies, video_details
from feedmill.store.schema.batches import batch_jobs, batches
from feedmill.store.schema.bookmarks import bookmarks
from feedmill.store.schema.entries import (
    deferred_entries,
    entries,
    entry_labels,
    full_text_tasks,
    full_texts,
    labels,
    playback_positions,
    popular_feeds,
    revisions,
    states,
    tombstones,
    unread,
    unread_lists,
)
from feedmill.store.schema.feeds import feed_urls, feeds, fetch_log, icons
from feedmill.store.schema.filters import filter_effects, filter_hits, filter_jobs, filters
from feedmill.store.schema.hubs import hub_pushes, hub_subscriptions
from feedmill.store.schema.metadata import metadata
from feedmill.store.schema.notifications import notification_targets, notifications, watched_searches
from feedmill.store.schema.output_feeds import output_feed_changes, output_feeds
from feedmill.store.schema.pools import (
    api_key_pool_groups,
    pool_grants,
    pool_groups,
    pool_items,
    pool_lists,
    pool_source_tables,
    pool_texts,
)
from feedmill.store.schema.search import saved_searches
from feedmill.store.schema.services import service_saves, services
from feedmill.store.schema.stories import story_entries, story_keys, story_sketches
from feedmill.store.schema.subscriptions import folder_subscriptions, folders, subscriptions
from feedmill.store.schema.users import (
    api_keys,
    app_passwords,
    identities,
    own_css,
    recovery_codes,
    sessions,
    sign_in_attempts,
    sign_in_links,
    totp_secrets,
    used_sign_ins,
    users,
)
from feedmill.store.schema.webhooks import deliveries, webhooks

__all__ = [
    "api_key_pool_groups",
    "api_keys",
    "app_passwords",
    "audit",
    "batch_jobs",
    "batches",
    "blocked_hosts",
    "bookmarks",
    "deferred_entries",
    "deliveries",
    "entries",
    "entry_labels",
    "feed_urls",
    "feeds",
    "fetch_log",
    "filter_effects",
    "filter_hits",
    "filter_jobs",
    "filters",
    "folder_subscriptions",
    "folders",
    "full_text_tasks",
    "full_texts",
    "hub_pushes",
    "hub_subscriptions",
    "icons",
    "identities",
    "image_tasks",
    "instance_state",
    "labels",
    "locks",
    "metadata",
    "migrations",
    "notification_targets",
    "notifications",
    "object_garbage",
    "output_feed_changes",
    "output_feeds",
    "own_css",
    "playback_positions",
    "pool_grants",
    "pool_groups",
    "pool_items",
    "pool_lists",
    "pool_source_tables",
    "pool_texts",
    "popular_feeds",
    "raw_bodies",
    "recovery_codes",
    "revisions",
    "saved_searches",
    "service_saves",
    "services",
    "sessions",
    "sign_in_attempts",
    "sign_in_links",
    "states",
    "story_entries",
    "story_keys",
    "story_sketches",
    "subscriptions",
    "tombstones",
    "totp_secrets",
    "unread",
    "unread_lists",
    "used_sign_ins",
    "users",
    "video_details",
    "watched_searches",
    "webhooks",
]
