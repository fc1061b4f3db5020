"""Tables of notification targets, of what waits for them, and of saved searches that are watched."""

from sqlalchemy import Column, Index

from feedmill.store.columns import Id, LongText, Token, Word, belongs_to, count, exact_text, flag, key, timestamp
from feedmill.store.schema.metadata import table

notification_targets = table(
    "notification_targets",
    key(),
    belongs_to("users"),
    Column("name", exact_text(190), nullable=False),
    Column("scheme", Word, nullable=False),
    # Encrypted.
    Column("url", LongText, nullable=False),
    # A JSON list of event names.
    Column("events", LongText, nullable=False),
    count("gap_minutes"),
    flag("paused"),
    Column("digest", Word, nullable=False, server_default="none"),
    timestamp("next_digest_at"),
    count("attempts"),
    # Nothing is sent before; a lease moves it.
    timestamp("next_attempt_at", required=True),
    Column("claim_token", Token),
    timestamp("last_success_at"),
    Column("last_error", LongText),
    timestamp("created_at", required=True),
    Index("notification_targets_of_user", "user_id"),
    Index("notification_targets_due", "next_attempt_at"),
    Index("notification_targets_claimed", "claim_token"),
    Index("notification_targets_digest", "next_digest_at"),
)

# Deleted when it was sent.
notifications = table(
    "notifications",
    key(),
    belongs_to("notification_targets", name="target_id"),
    Column("event", Word, nullable=False),
    Column("feed_id", Id, nullable=False, server_default="0"),
    Column("refresh_token", Token),
    Column("search_id", Id, nullable=False, server_default="0"),
    # A JSON list.
    Column("entry_ids", LongText),
    timestamp("created_at", required=True),
    Index("notifications_of_target", "target_id", "id"),
)

watched_searches = table(
    "watched_searches",
    belongs_to("notification_targets", name="target_id", primary_key=True, autoincrement=False),
    belongs_to("saved_searches", name="search_id", primary_key=True, autoincrement=False),
    Column("after_entry_id", Id, nullable=False),
    timestamp("checked_at", required=True),
    Index("watched_searches_due", "checked_at"),
    Index("watched_searches_of_search", "search_id"),
)
