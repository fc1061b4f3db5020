"""Pools of content that is handed on."""

from sqlalchemy import Column, Index, SmallInteger, UniqueConstraint, text

from feedmill.store.columns import Id, LongText, Word, ascii_text, belongs_to, count, exact_text, flag, key, moment
from feedmill.store.schema.tables import table

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
