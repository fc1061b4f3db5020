"""What is kept beside the rows: raw bodies, images, and what is to be deleted."""

from sqlalchemy import Column, Index, SmallInteger, UniqueConstraint

from feedmill.store.columns import LongText, Token, Word, ascii_text, belongs_to, count, key, moment, size
from feedmill.store.schema.tables import table

raw_bodies = table(
    "raw_bodies",
    key(),
    belongs_to("feeds"),
    Column("key", ascii_text(512), nullable=False, unique=True),
    moment("fetched_at", required=True),
    Column("http_status", SmallInteger),
    Column("headers", LongText),
    Column("sha256", Token, nullable=False),
    size("size"),
    Column("parse_result", LongText),
    count("entry_count"),
    count("new_entries"),
    # With the size, so that how much a feed takes up is read from the index alone.
    Index("raw_bodies_of_feed", "feed_id", "fetched_at", "size"),
    Index("raw_bodies_age", "fetched_at"),
)

image_tasks = table(
    "image_tasks",
    key(),
    belongs_to("feeds"),
    belongs_to("entries", name="entry_id"),
    count("position"),
    Column("original_url", LongText, nullable=False),
    Column("status", Word, nullable=False, server_default="pending"),
    count("attempts"),
    moment("next_attempt_at"),
    Column("claim_token", Token),
    moment("claimed_until"),
    Column("object_key", ascii_text(512), unique=True),
    Column("content_type", ascii_text(128)),
    size("size"),
    Column("sha256", Token),
    Column("last_error", LongText),
    moment("created_at", required=True),
    moment("updated_at", required=True),
    UniqueConstraint("entry_id", "position", name="image_tasks_position"),
    Index("image_tasks_waiting", "status", "next_attempt_at"),
    Index("image_tasks_of_feed", "feed_id", "status", "size", "created_at"),
    Index("image_tasks_claimed", "claim_token"),
)

# The small picture that a feed is known by, in base64, and when it is next asked for.
icons = table(
    "icons",
    belongs_to("feeds", primary_key=True, autoincrement=False),
    Column("address", LongText),
    Column("sha256", Token),
    Column("media_type", ascii_text(128)),
    count("attempts"),
    moment("next_attempt_at", required=True),
    Column("claim_token", Token),
    moment("fetched_at"),
    # Last, because reading the columns before it then never touches its pages.
    Column("data", LongText),
    Index("icons_waiting", "next_attempt_at", "feed_id"),
    Index("icons_claimed", "claim_token"),
    Index("icons_by_digest", "sha256", "feed_id"),
)

object_garbage = table(
    "object_garbage",
    key(),
    Column("key", ascii_text(512), nullable=False, unique=True),
    moment("recorded_at", required=True),
)
