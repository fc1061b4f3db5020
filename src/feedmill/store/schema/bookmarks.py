"""Table of bookmarks."""

from sqlalchemy import Column, Index, UniqueConstraint

from feedmill.store.columns import (
    LongText,
    Token,
    Url,
    Word,
    belongs_to,
    count,
    key,
    timestamp,
)
from feedmill.store.schema.metadata import table

# Pages that a user saved by URL; their metadata is fetched in the background.
bookmarks = table(
    "bookmarks",
    key(),
    belongs_to("users"),
    Column("url", Url, nullable=False),
    Column("title", LongText),
    Column("description", LongText),
    Column("image_url", LongText),
    Column("note", LongText),
    Column("status", Word, nullable=False, server_default="pending"),
    count("attempts"),
    timestamp("next_attempt_at"),
    Column("claim_token", Token),
    Column("last_error", LongText),
    timestamp("created_at", required=True),
    timestamp("fetched_at"),
    UniqueConstraint("user_id", "url", name="bookmarks_once"),
    Index("bookmarks_listed", "user_id", "created_at", "id"),
    Index("bookmarks_waiting", "status", "next_attempt_at"),
    Index("bookmarks_claimed", "claim_token"),
)
