"""What people did with entries, and what else they keep."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, UniqueConstraint

from feedmill.store.columns import Id, LongText, Token, Url, Word, belongs_to, count, exact_text, key, moment
from feedmill.store.schema.tables import table

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
    # By which whoever made the list finds it, and whoever retired it can have it back.
    Column("token", Token, unique=True),
    moment("created_at", required=True),
    moment("retired_at"),
    Index("unread_lists_of_user", "user_id"),
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

# Searches that a person keeps as views.
saved_searches = table(
    "saved_searches",
    key(),
    belongs_to("users"),
    Column("name", exact_text(190), nullable=False),
    Column("query", LongText, nullable=False),
    count("position"),
    UniqueConstraint("user_id", "name", name="saved_searches_once"),
)

# Pages that a person saved by their address; what they are about is fetched in the background.
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
    moment("next_attempt_at"),
    Column("claim_token", Token),
    Column("last_error", LongText),
    moment("created_at", required=True),
    moment("fetched_at"),
    UniqueConstraint("user_id", "url", name="bookmarks_once"),
    Index("bookmarks_listed", "user_id", "created_at", "id"),
    Index("bookmarks_waiting", "status", "next_attempt_at"),
    Index("bookmarks_claimed", "claim_token"),
)

# The whole article behind an entry, once for each way to cut it out of its page: the usual one is empty.
full_texts = table(
    "full_texts",
    belongs_to("entries", name="entry_id"),
    Column("recipe", Token, nullable=False, server_default=""),
    moment("fetched_at", required=True),
    Column("url", LongText, nullable=False),
    Column("content_html", LongText, nullable=False),
    PrimaryKeyConstraint("entry_id", "recipe"),
)

# Entries whose whole article is wanted without anybody asking: written in the batch that stores the entry.
full_text_tasks = table(
    "full_text_tasks",
    belongs_to("entries", name="entry_id", primary_key=True, autoincrement=False),
    count("attempts"),
    moment("next_attempt_at", required=True),
    Column("claim_token", Token),
    Index("full_text_tasks_waiting", "next_attempt_at", "entry_id"),
    Index("full_text_tasks_claimed", "claim_token"),
)
