"""Tables of webhooks and their deliveries."""

from sqlalchemy import Column, Index, SmallInteger

from feedmill.store.columns import Id, LongText, Token, Url, Word, belongs_to, count, flag, key, timestamp
from feedmill.store.schema.metadata import table

webhooks = table(
    "webhooks",
    key(),
    belongs_to("users"),
    Column("url", Url, nullable=False),
    Column("secret", LongText, nullable=False),
    # A JSON list of event names.
    Column("events", LongText, nullable=False),
    flag("paused"),
    count("consecutive_failures"),
    timestamp("last_success_at"),
    Column("last_error", LongText),
    timestamp("created_at", required=True),
    Index("webhooks_of_user", "user_id"),
)

# The outbox: written in the batch of the refresh that it reports. The payload is read when it is sent.
deliveries = table(
    "deliveries",
    key(),
    belongs_to("webhooks"),
    Column("event", Word, nullable=False),
    Column("feed_id", Id, nullable=False),
    Column("refresh_token", Token),
    Column("status", Word, nullable=False, server_default="pending"),
    count("attempts"),
    timestamp("next_attempt_at"),
    Column("claim_token", Token),
    Column("http_status", SmallInteger),
    Column("last_error", LongText),
    timestamp("created_at", required=True),
    timestamp("finished_at"),
    Index("deliveries_waiting", "status", "next_attempt_at"),
    Index("deliveries_of_webhook", "webhook_id", "id"),
    Index("deliveries_claimed", "claim_token"),
)
