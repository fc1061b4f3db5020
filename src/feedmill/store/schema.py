"""Every table. The migrations lead here; a test compares the two."""

from typing import Any

from sqlalchemy import Column, Index, MetaData, PrimaryKeyConstraint, SmallInteger, Table, UniqueConstraint, text

from feedmill.store.columns import (
    Id,
    LongText,
    Token,
    Url,
    Word,
    ascii_text,
    belongs_to,
    count,
    exact_text,
    flag,
    key,
    moment,
    size,
)

metadata = MetaData()


def table(name: str, *parts: Any, **options: Any) -> Table:
    # AUTOINCREMENT: an id is never given twice, so that an old link can't show somebody else's row.
    numbered = any(isinstance(part, Column) and part.primary_key and part.autoincrement is True for part in parts)
    return Table(
        name, metadata, *parts, sqlite_autoincrement=numbered, mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin", mysql_engine="InnoDB", mysql_row_format="DYNAMIC", **options,
    )  # fmt: skip


# --- collecting -------------------------------------------------------------------------------------------

feeds = table(
    "feeds",
    key(),
    Column("url", Url, nullable=False, unique=True),
    Column("host", ascii_text(255), nullable=False),
    Column("title", LongText),
    # What the operator calls it and where it is filed (a JSON list); a refresh leaves both alone.
    Column("own_title", LongText),
    Column("folder", LongText),
    Column("site_url", LongText),
    Column("description", LongText),
    Column("language", ascii_text(64)),
    Column("icon_url", LongText),
    Column("image_url", LongText),
    Column("hub_url", LongText),
    Column("status", Word, nullable=False, server_default="active"),
    Column("archive_policy", Word, nullable=False, server_default="all"),
    Column("http_options", LongText),
    flag("added_by_person"),
    flag("declared"),
    # What the last whole answer said of itself; saved only together with its entries.
    Column("etag", LongText),
    Column("last_modified", LongText),
    Column("body_sha256", Token),
    # The schedule. No next_fetch_at: never by itself (disabled, paused, at rest).
    moment("next_fetch_at"),
    Column("next_fetch_why", LongText),
    Column("interval_seconds", Id),
    Column("rhythm_seconds", Id),
    Column("wishes", LongText),
    moment("last_fetched_at"),
    moment("last_success_at"),
    moment("last_entry_at"),
    count("consecutive_failures"),
    Column("last_error", LongText),
    Column("last_error_kind", Word),
    moment("gone_since"),
    Column("moved_to", Url),
    count("moved_times"),
    count("entry_count"),
    # The claim. `fence` is set to NULL, which it must not be, by a write without the claim: that undoes its batch.
    Column("claim_token", Token),
    moment("claimed_until"),
    flag("fence"),
    moment("created_at", required=True),
    Index("feeds_due", "next_fetch_at"),
    Index("feeds_claimed", "claim_token"),
    Index("feeds_host", "host"),
)

feed_urls = table(
    "feed_urls",
    key(),
    belongs_to("feeds"),
    Column("url", Url, nullable=False),
    moment("until", required=True),
    Index("feed_urls_url", "url"),
    Index("feed_urls_feed", "feed_id"),
)

entries = table(
    "entries",
    key(),
    belongs_to("feeds"),
    Column("guid", exact_text(512), nullable=False),
    # Where the entry stands in lists: its date, or when it was first seen if that is earlier.
    moment("sort_at", required=True),
    # The refresh that brought it, so that what depends on it is written in the same batch.
    Column("refresh_token", Token, nullable=False),
    Column("digest", Token, nullable=False),
    flag("in_feed"),
    moment("first_seen_at", required=True),
    moment("last_seen_at", required=True),
    moment("published_at"),
    moment("updated_at"),
    count("revision_count"),
    Column("language", ascii_text(64)),
    Column("link", LongText),
    Column("title", LongText),
    Column("author", LongText),
    Column("image_url", LongText),
    Column("comments_url", LongText),
    # What relative addresses in the texts refer to.
    Column("base_url", LongText),
    Column("categories", LongText),
    Column("enclosures", LongText),
    Column("summary", LongText),
    # Last, because reading the columns before it then never touches its pages.
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
    moment("seen_at", required=True),
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
    moment("purged_at", required=True),
    PrimaryKeyConstraint("feed_id", "guid"),
)

fetch_log = table(
    "fetch_log",
    key(),
    belongs_to("feeds"),
    moment("at", required=True),
    Column("outcome", Word, nullable=False),
    Column("http_status", SmallInteger),
    size("bytes"),
    count("ms"),
    count("new_entries"),
    count("revised_entries"),
    Column("message", LongText),
    Index("fetch_log_of_feed", "feed_id", "at"),
    Index("fetch_log_at", "at"),
)

# --- archive ----------------------------------------------------------------------------------------------

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
    Index("raw_bodies_of_feed", "feed_id", "fetched_at"),
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
    Index("image_tasks_of_feed", "feed_id", "status"),
    Index("image_tasks_claimed", "claim_token"),
)

object_garbage = table(
    "object_garbage",
    key(),
    Column("key", ascii_text(512), nullable=False, unique=True),
    moment("recorded_at", required=True),
)

# --- people -----------------------------------------------------------------------------------------------

users = table(
    "users",
    key(),
    Column("name", exact_text(190), nullable=False, unique=True),
    Column("password_hash", LongText),
    flag("is_admin"),
    Column("status", Word, nullable=False, server_default="active"),
    # Where this user's unread entries stand; marking all read points it to a new, empty list.
    Column("unread_list_id", Id, nullable=False, server_default="0"),
    Column("settings", LongText),
    Column("quota_feeds", Id),
    Column("quota_bytes", Id),
    moment("created_at", required=True),
    moment("last_seen_at"),
)

sessions = table(
    "sessions",
    key(),
    belongs_to("users"),
    Column("token_hash", Token, nullable=False, unique=True),
    Column("user_agent", LongText),
    Column("address", ascii_text(64)),
    moment("created_at", required=True),
    moment("last_seen_at", required=True),
    moment("expires_at", required=True),
    Index("sessions_of_user", "user_id"),
)

tokens = table(
    "tokens",
    key(),
    belongs_to("users"),
    Column("name", exact_text(190), nullable=False),
    Column("token_hash", Token, nullable=False, unique=True),
    Column("scopes", LongText, nullable=False),
    moment("created_at", required=True),
    moment("last_used_at"),
    moment("expires_at"),
    moment("revoked_at"),
    Index("tokens_of_user", "user_id"),
)

subscriptions = table(
    "subscriptions",
    key(),
    belongs_to("users"),
    belongs_to("feeds"),
    Column("title", LongText),
    Column("interval_seconds", Id),
    Column("archive_policy", Word),
    flag("paused"),
    # Counted in the same batch as whatever changes it, so that the sidebar never scans entries.
    count("unread_count"),
    Column("settings", LongText),
    moment("created_at", required=True),
    UniqueConstraint("user_id", "feed_id", name="subscriptions_once"),
    Index("subscriptions_of_feed", "feed_id"),
)

folders = table(
    "folders",
    key(),
    belongs_to("users"),
    # 0 is the top: NULLs would not be told apart by the constraint below.
    Column("parent_id", Id, nullable=False, server_default="0"),
    Column("name", exact_text(190), nullable=False),
    count("position"),
    UniqueConstraint("user_id", "parent_id", "name", name="folders_once"),
)

folder_subscriptions = table(
    "folder_subscriptions",
    belongs_to("folders"),
    belongs_to("subscriptions"),
    PrimaryKeyConstraint("folder_id", "subscription_id"),
    Index("folders_of_subscription", "subscription_id"),
)

# An entry is unread for a user while it stands in the user's unread list. Lists that no user points to are
# what mark-all-read left behind; they can be pointed to again (undo) until a chore empties them.
unread = table(
    "unread",
    Column("list_id", Id, nullable=False),
    moment("sort_at", required=True),
    Column("entry_id", Id, nullable=False),
    Column("subscription_id", Id, nullable=False),
    PrimaryKeyConstraint("list_id", "sort_at", "entry_id"),
    Index("unread_of_subscription", "list_id", "subscription_id", "sort_at", "entry_id"),
    sqlite_with_rowid=False,
)

unread_lists = table(
    "unread_lists",
    key(),
    belongs_to("users"),
    moment("created_at", required=True),
    moment("retired_at"),
    Index("unread_lists_retired", "retired_at"),
)

states = table(
    "states",
    belongs_to("users"),
    belongs_to("entries", name="entry_id"),
    moment("read_at"),
    moment("starred_at"),
    moment("later_at"),
    moment("later_until"),
    PrimaryKeyConstraint("user_id", "entry_id"),
    Index("states_starred", "user_id", "starred_at", "entry_id"),
    Index("states_later", "user_id", "later_at", "entry_id"),
    Index("states_read", "user_id", "read_at", "entry_id"),
    Index("states_of_entry", "entry_id"),
    Index("states_later_expiry", "later_until"),
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
    moment("sort_at", required=True),
    PrimaryKeyConstraint("label_id", "entry_id"),
    Index("entry_labels_listed", "label_id", "sort_at", "entry_id"),
    Index("labels_of_entry", "entry_id"),
)

# --- batches ----------------------------------------------------------------------------------------------

batches = table(
    "batches",
    key(),
    Column("token", Token, nullable=False, unique=True),
    Column("kind", Word, nullable=False),
    Column("user_id", Id),
    # Set while the batch runs, so that asking for the same again joins it.
    Column("running_key", ascii_text(128), unique=True),
    Column("status", Word, nullable=False, server_default="running"),
    count("total"),
    moment("created_at", required=True),
    moment("heard_at", required=True),
    moment("finished_at"),
    moment("cancelled_at"),
    Index("batches_of_user", "user_id", "created_at"),
    Index("batches_running", "status", "heard_at"),
)

batch_jobs = table(
    "batch_jobs",
    belongs_to("batches", name="batch_id"),
    Column("feed_id", Id, nullable=False),
    Column("outcome", Word),
    count("new_entries"),
    count("ms"),
    Column("message", LongText),
    moment("finished_at"),
    PrimaryKeyConstraint("batch_id", "feed_id"),
    Index("batch_jobs_done", "batch_id", "finished_at"),
)

# --- pools ------------------------------------------------------------------------------------------------

pool_groups = table(
    "pool_groups",
    key(),
    Column("name", exact_text(190), nullable=False, unique=True),
    Column("rule", LongText, nullable=False),
    Column("settings", LongText),
    flag("paused"),
    moment("created_at", required=True),
)

pool_items = table(
    "pool_items",
    key(),
    belongs_to("pool_groups", name="group_id"),
    Column("kind", Word, nullable=False),
    Column("entry_id", Id, nullable=False),
    Column("batch_id", Id, nullable=False),
    # 1 available, 2 queued, 3 leased, 0 used, 4 dead letter.
    Column("status", SmallInteger, nullable=False, server_default="1"),
    Column("taken_by", ascii_text(128)),
    count("attempts"),
    moment("changed_at", required=True),
    moment("leased_until"),
    UniqueConstraint("group_id", "kind", "entry_id", name="pool_items_once"),
    # Newest batch first, in order within it: without the direction each claim would sort all that is available.
    Index("pool_items_next", "group_id", "kind", "status", text("batch_id DESC"), "id"),
    Index("pool_items_taken", "taken_by"),
)

# --- the house itself -------------------------------------------------------------------------------------

locks = table(
    "locks",
    Column("name", ascii_text(128), primary_key=True),
    Column("token", Token, nullable=False),
    moment("until", required=True),
)

migrations = table(
    "migrations",
    Column("version", Id, primary_key=True, autoincrement=False),
    moment("applied_at", required=True),
)

facts = table(
    "facts",
    Column("name", ascii_text(128), primary_key=True),
    Column("value", LongText, nullable=False),
)
