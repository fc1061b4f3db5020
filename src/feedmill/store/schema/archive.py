"""Tables of raw bodies, image tasks and objects to delete."""

from sqlalchemy import Column, Index, SmallInteger, UniqueConstraint

from feedmill.store.columns import LongText, Token, Word, ascii_text, belongs_to, count, key, size, timestamp
from feedmill.store.schema.metadata import table

raw_bodies = table(
    "raw_bodies",
    key(),
    belongs_to("feeds"),
    Column("key", ascii_text(512), nullable=False, unique=True),
    timestamp("fetched_at", required=True),
    Column("http_status", SmallInteger),
    Column("headers", LongText),
    Column("sha256", Token, nullable=False),
    size("size"),
    Column("parse_result", LongText),
    count("entry_count"),
    count("new_entries"),
    # Includes the size, so that the usage of a feed is read from the index alone.
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
    timestamp("next_attempt_at"),
    Column("claim_token", Token),
    timestamp("claimed_until"),
    Column("object_key", ascii_text(512), unique=True),
    Column("content_type", ascii_text(128)),
    size("size"),
    Column("sha256", Token),
    Column("last_error", LongText),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    UniqueConstraint("entry_id", "position", name="image_tasks_position"),
    Index("image_tasks_waiting", "status", "next_attempt_at"),
    Index("image_tasks_of_feed", "feed_id", "status", "size", "created_at"),
    Index("image_tasks_claimed", "claim_token"),
)


object_garbage = table(
    "object_garbage",
    key(),
    Column("key", ascii_text(512), nullable=False, unique=True),
    timestamp("recorded_at", required=True),
)

# What video sites say of the videos in articles: shared by all entries that show them.
video_details = table(
    "video_details",
    Column("video", ascii_text(64), primary_key=True),
    Column("title", LongText),
    Column("picture_url", LongText),
    timestamp("fetched_at", required=True),
)
