"""Tables of output feeds, and of the changes that a WebSub hub is told of."""

from sqlalchemy import Column, Index

from feedmill.store.columns import Id, LongText, Token, Word, ascii_text, belongs_to, count, exact_text, key, timestamp
from feedmill.store.schema.metadata import table

output_feeds = table(
    "output_feeds",
    key(),
    belongs_to("users"),
    Column("name", exact_text(190), nullable=False),
    Column("list_kind", Word, nullable=False),
    # Of the subscription, folder, label, saved search, filter or pool group; 0 for a list without one.
    Column("list_id", Id, nullable=False, server_default="0"),
    Column("secret_hash", Token, nullable=False, unique=True),
    # The key that it was created with; it is valid only while that one is.
    Column("api_key_id", Id),
    timestamp("created_at", required=True),
    timestamp("last_used_at"),
    Column("last_address", ascii_text(64)),
    Column("last_user_agent", LongText),
    timestamp("revoked_at"),
    # The first page as it was last served: conditional requests compare it.
    Column("content_digest", Token),
    timestamp("changed_at"),
    # The secret, encrypted: only of a feed whose address a WebSub hub is told.
    Column("announced_secret", LongText),
    Column("announced_digest", Token),
    count("attempts"),
    timestamp("next_attempt_at", required=True),
    Column("claim_token", Token),
    Index("output_feeds_of_user", "user_id"),
    Index("output_feeds_claimed", "claim_token"),
)

# Output feeds that may have new entries: written in the batch of a refresh, deleted when the hub was told.
output_feed_changes = table(
    "output_feed_changes",
    key(),
    belongs_to("output_feeds"),
    Index("output_feed_changes_of_feed", "output_feed_id"),
)
