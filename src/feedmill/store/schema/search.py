"""Table of saved searches; the search index itself is in the migrations alone."""

from sqlalchemy import Column, UniqueConstraint

from feedmill.store.columns import (
    LongText,
    belongs_to,
    count,
    exact_text,
    key,
)
from feedmill.store.schema.metadata import table

# Searches that users saved.
saved_searches = table(
    "saved_searches",
    key(),
    belongs_to("users"),
    Column("name", exact_text(190), nullable=False),
    Column("query", LongText, nullable=False),
    count("position"),
    UniqueConstraint("user_id", "name", name="saved_searches_once"),
)
