"""What the house needs for itself."""

from sqlalchemy import Column, Index

from feedmill.store.columns import Id, LongText, Token, Word, ascii_text, key, moment
from feedmill.store.schema.tables import table

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

# Nobody asks these hosts, nor any below them, while they stand here.
blocked_hosts = table(
    "blocked_hosts",
    Column("host", ascii_text(255), primary_key=True),
    moment("at", required=True),
    Column("user_id", Id),
)

# What people with power did: who, what, to what, from where.
audit = table(
    "audit",
    key(),
    moment("at", required=True),
    Column("user_id", Id),
    Column("action", Word, nullable=False),
    Column("subject", LongText),
    Column("address", ascii_text(64)),
    Index("audit_at", "at"),
)
