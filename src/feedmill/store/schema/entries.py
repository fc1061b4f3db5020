"""Tables of entries, revisions, tombstones, unread lists, states, playback positions, labels and full texts."""

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, UniqueConstraint

from feedmill.store.columns import (
    Id,
    LongText,
    Token,
    ascii_text,
    belongs_to,
    count,
    exact_text,
    flag,
    key,
    timestamp,
)
from feedmill.store.schema.metadata import table

# An entry is unread for a user while it is in the user's unread list. Mark-all-read gives the user a new list and
# retires the old one, which can be restored (undo) until a maintenance task deletes it.
unread = table(
    "unread",
    Column("list_id", Id, nullable=False),
    timestamp("sort_at", required=True),
    Column("entry_id", Id, nullable=False),
    Column("subscription_id", Id, nullable=False),
    PrimaryKeyConstraint("list_id", "sort_at", "entry_id"),
    Index("unread_of_subscription", "list_id", "subscription_id", "sort_at", "entry_id"),
    sqlite_with_rowid=False,
)

# New entries of popular feeds, for whose subscribers no rows of `unread` were written when they were stored. Each
# subscription says how far its rows were added (`subscriptions.filled_to`).
deferred_entries = table(
    "deferred_entries",
    belongs_to("entries", name="entry_id", primary_key=True, autoincrement=False),
    belongs_to("feeds"),
    Index("deferred_entries_of_feed", "feed_id", "entry_id"),
)

# The feeds of deferred entries, each with the largest id of those that it ever had.
popular_feeds = table(
    "popular_feeds",
    belongs_to("feeds", primary_key=True, autoincrement=False),
    Column("newest_id", Id, nullable=False, server_default="0"),
)

unread_lists = table(
    "unread_lists",
    key(),
    belongs_to("users"),
    # Identifies the list for the request that creates it, and for the undo of mark-all-read.
    Column("token", Token, unique=True),
    timestamp("created_at", required=True),
    timestamp("retired_at"),
    # Of a list without entries that was retired at once: JSON of the marks that a change of many entries replaced.
    Column("replaced_marks", LongText),
    Index("unread_lists_of_user", "user_id"),
    Index("unread_lists_retired", "retired_at"),
)

states = table(
    "states",
    belongs_to("users"),
    belongs_to("entries", name="entry_id"),
    timestamp("read_at"),
    timestamp("starred_at"),
    timestamp("later_at"),
    timestamp("later_until"),
    # When a mark or label of the entry was last changed, except by mark-all-read.
    timestamp("changed_at"),
    PrimaryKeyConstraint("user_id", "entry_id"),
    Index("states_starred", "user_id", "starred_at", "entry_id"),
    Index("states_later", "user_id", "later_at", "entry_id"),
    Index("states_read", "user_id", "read_at", "entry_id"),
    Index("states_of_entry", "entry_id"),
    Index("states_later_expiry", "later_until"),
    Index("states_changed", "user_id", "changed_at", "entry_id"),
)

# How far a user has played the enclosures of entries; `enclosure` is the place of one, from 0.
playback_positions = table(
    "playback_positions",
    belongs_to("users"),
    belongs_to("entries", name="entry_id"),
    Column("enclosure", Integer, nullable=False),
    Column("seconds", Integer, nullable=False),
    timestamp("played_at", required=True),
    PrimaryKeyConstraint("user_id", "entry_id", "enclosure"),
    Index("playback_positions_of_entry", "entry_id"),
)

labels = table(
    "labels",
    key(),
    belongs_to("users"),
    Column("name", exact_text(190), nullable=False),
    UniqueConstraint("user_id", "name", name="labels_once"),
)

entry_labels = table(
    "entry_labels",
    belongs_to("labels"),
    belongs_to("entries", name="entry_id"),
    timestamp("sort_at", required=True),
    PrimaryKeyConstraint("label_id", "entry_id"),
    Index("entry_labels_listed", "label_id", "sort_at", "entry_id"),
    Index("labels_of_entry", "entry_id"),
)


# Full texts of entries, one for each way of extraction (`selector_digest`); the usual one is empty.
full_texts = table(
    "full_texts",
    belongs_to("entries", name="entry_id"),
    Column("selector_digest", Token, nullable=False, server_default=""),
    timestamp("fetched_at", required=True),
    Column("url", LongText, nullable=False),
    Column("content_html", LongText, nullable=False),
    PrimaryKeyConstraint("entry_id", "selector_digest"),
)

# Entries whose full text is fetched in the background; added in the batch that stores the entry.
full_text_tasks = table(
    "full_text_tasks",
    belongs_to("entries", name="entry_id", primary_key=True, autoincrement=False),
    count("attempts"),
    timestamp("next_attempt_at", required=True),
    Column("claim_token", Token),
    Index("full_text_tasks_waiting", "next_attempt_at", "entry_id"),
    Index("full_text_tasks_claimed", "claim_token"),
)


entries = table(
    "entries",
    key(),
    belongs_to("feeds"),
    Column("guid", exact_text(512), nullable=False),
    # The sort key of lists: its date, or when it was first seen if that is earlier. What the first fetch of a feed
    # brings without dates is below all dates.
    timestamp("sort_at", required=True),
    # The refresh that brought it, by which other statements of the same batch find it.
    Column("refresh_token", Token, nullable=False),
    Column("digest", Token, nullable=False),
    flag("in_feed"),
    timestamp("first_seen_at", required=True),
    timestamp("last_seen_at", required=True),
    timestamp("published_at"),
    flag("undated"),
    timestamp("updated_at"),
    count("revision_count"),
    Column("language", ascii_text(64)),
    Column("link", LongText),
    Column("title", LongText),
    Column("author", LongText),
    Column("image_url", LongText),
    Column("comments_url", LongText),
    # The base of relative URLs in the texts.
    Column("base_url", LongText),
    Column("categories", LongText),
    Column("enclosures", LongText),
    Column("summary", LongText),
    # Last, so that reading the columns before it does not read its pages.
    Column("content_html", LongText),
    UniqueConstraint("feed_id", "guid", name="entries_identity"),
    Index("entries_of_feed", "feed_id", "sort_at", "id"),
    Index("entries_in_feed", "feed_id", "in_feed", "last_seen_at"),
)


revisions = table(
    "revisions",
    key(),
    belongs_to("entries", name="entry_id"),
    count("number"),
    timestamp("seen_at", required=True),
    Column("digest", Token, nullable=False),
    Column("link", LongText),
    Column("title", LongText),
    Column("author", LongText),
    Column("summary", LongText),
    Column("content_html", LongText),
    UniqueConstraint("entry_id", "number", name="revisions_number"),
)


tombstones = table(
    "tombstones",
    belongs_to("feeds"),
    Column("guid", exact_text(512), nullable=False),
    timestamp("purged_at", required=True),
    # The id that the entry had; none if a merge of feeds moved it.
    Column("entry_id", Id),
    PrimaryKeyConstraint("feed_id", "guid"),
    Index("tombstones_purged", "purged_at", "entry_id", "feed_id"),
)
