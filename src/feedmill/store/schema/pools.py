"""Tables of pool groups, grants and items."""

from sqlalchemy import Column, Index, SmallInteger, UniqueConstraint, text

from feedmill.store.columns import (
    Id,
    LongText,
    Token,
    Word,
    ascii_text,
    belongs_to,
    count,
    exact_text,
    flag,
    key,
    refers_to,
    timestamp,
)
from feedmill.store.schema.metadata import table

pool_groups = table(
    "pool_groups",
    key(),
    Column("name", exact_text(190), nullable=False, unique=True),
    Column("rule", LongText, nullable=False),
    Column("settings", LongText),
    flag("paused"),
    timestamp("created_at", required=True),
    # The user whose labels the rule uses. A column with a foreign key, not part of `rule`: ids of deleted users may be
    # reused.
    refers_to("users", name="labels_user_id"),
)

# Users who may take from a group or fill it; admins may do both with all.
pool_grants = table(
    "pool_grants",
    belongs_to("pool_groups", name="group_id", primary_key=True, autoincrement=False),
    belongs_to("users", primary_key=True, autoincrement=False),
    # Not `right`, which is a word of SQL.
    Column("access", Word, primary_key=True),
    timestamp("granted_at", required=True),
    Index("pool_grants_of_user", "user_id"),
)

# The groups that an API key is limited to.
api_key_pool_groups = table(
    "api_key_pool_groups",
    belongs_to("api_keys", primary_key=True, autoincrement=False),
    belongs_to("pool_groups", name="group_id", primary_key=True, autoincrement=False),
)

# The Redis list of each pool: which one the database has filled, so that a lost list is noticed.
pool_lists = table(
    "pool_lists",
    belongs_to("pool_groups", name="group_id", primary_key=True, autoincrement=False),
    Column("kind", Word, primary_key=True),
    Column("life", Token),
    timestamp("rpop_seen_at"),
)

# How far the source table of each pool was read.
pool_source_tables = table(
    "pool_source_tables",
    belongs_to("pool_groups", name="group_id", primary_key=True, autoincrement=False),
    Column("kind", Word, primary_key=True),
    Column("table_name", Token, nullable=False),
    # The highest id that was read, and where the search for rows that were added before it has come to.
    Column("newest_id", Id, nullable=False),
    Column("swept_id", Id, nullable=False),
)

pool_items = table(
    "pool_items",
    key(),
    belongs_to("pool_groups", name="group_id"),
    Column("kind", Word, nullable=False),
    # An item is an entry, or a text of another program.
    Column("entry_id", Id),
    Column("text_id", Id),
    Column("batch_id", Id, nullable=False),
    # 1 available, 2 queued, 3 leased, 0 used, 4 dead letter, 5 held back.
    Column("status", SmallInteger, nullable=False, server_default="1"),
    Column("taken_by", ascii_text(128)),
    count("attempts"),
    timestamp("changed_at", required=True),
    timestamp("leased_until"),
    UniqueConstraint("group_id", "kind", "entry_id", name="pool_items_once"),
    UniqueConstraint("group_id", "kind", "text_id", name="pool_items_text_once"),
    # Newest batch first, by id within it: without the direction each claim would sort all available items.
    Index("pool_items_next", "group_id", "kind", "status", text("batch_id DESC"), "id"),
    Index("pool_items_taken", "taken_by"),
)

# Texts that other programs put into pools. Not in the rows of items, which change with each hand-out.
pool_texts = table(
    "pool_texts",
    key(),
    belongs_to("pool_groups", name="group_id"),
    Column("kind", Word, nullable=False),
    Column("external_id", exact_text(190), nullable=False),
    Column("batch_id", Id, nullable=False),
    Column("source", ascii_text(128), nullable=False),
    Column("text", LongText, nullable=False),
    timestamp("added_at", required=True),
    UniqueConstraint("group_id", "kind", "external_id", name="pool_texts_once"),
    Index("pool_texts_newest", "group_id", "kind", "id"),
)
