"""Tables of subscriptions and folders."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, UniqueConstraint

from feedmill.store.columns import Id, LongText, Word, belongs_to, count, exact_text, flag, key, timestamp
from feedmill.store.schema.metadata import table

subscriptions = table(
    "subscriptions",
    key(),
    belongs_to("users"),
    belongs_to("feeds"),
    Column("title", LongText),
    Column("interval_seconds", Id),
    Column("archive_policy", Word),
    flag("paused"),
    flag("same_story_once", default=True),
    # Updated in each batch that changes it, so that the sidebar never scans entries.
    count("unread_count"),
    # The id of an entry: deferred entries up to it are in the unread list, or were left out of it.
    Column("filled_to", Id, nullable=False, server_default="0"),
    Column("settings", LongText),
    timestamp("created_at", required=True),
    UniqueConstraint("user_id", "feed_id", name="subscriptions_once"),
    Index("subscriptions_of_feed", "feed_id"),
)

folders = table(
    "folders",
    key(),
    belongs_to("users"),
    # 0 for a top-level folder: the unique constraint below would treat NULLs as different.
    Column("parent_id", Id, nullable=False, server_default="0"),
    Column("name", exact_text(190), nullable=False),
    count("position"),
    flag("same_story_once", default=True),
    UniqueConstraint("user_id", "parent_id", "name", name="folders_once"),
)

folder_subscriptions = table(
    "folder_subscriptions",
    belongs_to("folders"),
    belongs_to("subscriptions"),
    PrimaryKeyConstraint("folder_id", "subscription_id"),
    Index("folders_of_subscription", "subscription_id"),
)
