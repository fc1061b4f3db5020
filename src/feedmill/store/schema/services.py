"""Tables of the services that articles are saved to, and of the saved articles."""

from sqlalchemy import Column, Index, SmallInteger, UniqueConstraint

from feedmill.store.columns import LongText, Token, Word, belongs_to, count, exact_text, flag, key, timestamp
from feedmill.store.schema.metadata import table

services = table(
    "services",
    key(),
    belongs_to("users"),
    Column("kind", Word, nullable=False),
    Column("name", exact_text(190), nullable=False),
    # Encrypted JSON.
    Column("options", LongText, nullable=False),
    flag("by_key"),
    timestamp("last_success_at"),
    Column("last_error", LongText),
    timestamp("created_at", required=True),
    Index("services_of_user", "user_id"),
)

# Kept as long as the entry, so that nothing is sent twice.
service_saves = table(
    "service_saves",
    key(),
    belongs_to("services"),
    belongs_to("entries", name="entry_id"),
    Column("status", Word, nullable=False, server_default="pending"),
    count("attempts"),
    timestamp("next_attempt_at"),
    Column("claim_token", Token),
    Column("http_status", SmallInteger),
    Column("last_error", LongText),
    timestamp("created_at", required=True),
    timestamp("finished_at"),
    UniqueConstraint("service_id", "entry_id", name="service_saves_once"),
    Index("service_saves_of_entry", "entry_id"),
    Index("service_saves_waiting", "status", "next_attempt_at"),
    Index("service_saves_claimed", "claim_token"),
)
