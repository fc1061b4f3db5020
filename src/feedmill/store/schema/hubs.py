"""Tables of our subscriptions at WebSub hubs, and of what the hubs pushed."""

from sqlalchemy import Column, Index, UniqueConstraint

from feedmill.store.columns import Id, LongText, Token, Word, ascii_text, belongs_to, count, key, size, timestamp
from feedmill.store.schema.metadata import table

hub_subscriptions = table(
    "hub_subscriptions",
    key(),
    # No foreign key: the subscription to a deleted feed must be ended at the hub.
    Column("feed_id", Id, nullable=False),
    Column("hub_url", LongText, nullable=False),
    Column("topic_url", LongText, nullable=False),
    # Of the hub and the topic, which are too long for an index.
    Column("topic_hash", Token, nullable=False),
    Column("callback_token", Token, nullable=False, unique=True),
    # The hub signs with it; the new one from its next confirmation on.
    Column("secret", Token),
    Column("new_secret", Token),
    Column("wanted", Word, nullable=False, server_default="subscribe"),
    # What the hub was asked for and has not confirmed.
    Column("asked", Word),
    timestamp("lease_until"),
    timestamp("last_push_at"),
    count("attempts"),
    Column("last_error", LongText),
    timestamp("next_attempt_at", required=True),
    Column("claim_token", Token),
    timestamp("created_at", required=True),
    UniqueConstraint("feed_id", "topic_hash", name="hub_subscriptions_once"),
    Index("hub_subscriptions_waiting", "next_attempt_at"),
    Index("hub_subscriptions_claimed", "claim_token"),
)

# What hubs pushed. A row without `next_attempt_at` is done; it stays a while, so that a repeated push is known.
hub_pushes = table(
    "hub_pushes",
    key(),
    belongs_to("hub_subscriptions"),
    Column("body_sha256", Token, nullable=False),
    # Of the raw body, which is stored before the row.
    Column("object_key", ascii_text(512), nullable=False),
    size("body_bytes"),
    Column("headers", LongText, nullable=False),
    Column("content_type", LongText, nullable=False),
    timestamp("received_at", required=True),
    count("attempts"),
    timestamp("next_attempt_at"),
    Column("claim_token", Token),
    UniqueConstraint("hub_subscription_id", "body_sha256", name="hub_pushes_once"),
    Index("hub_pushes_waiting", "next_attempt_at", "id"),
    Index("hub_pushes_claimed", "claim_token"),
    Index("hub_pushes_age", "received_at"),
)
