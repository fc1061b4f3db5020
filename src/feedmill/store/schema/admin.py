"""Tables of the instance: settings, locks, migrations, blocked hosts, audit log."""

from sqlalchemy import Column, Index

from feedmill.store.columns import Id, LongText, Token, Word, ascii_text, count, key, timestamp
from feedmill.store.schema.metadata import table

locks = table(
    "locks",
    Column("name", ascii_text(128), primary_key=True),
    Column("token", Token, nullable=False),
    timestamp("until", required=True),
)

migrations = table(
    "migrations",
    Column("version", Id, primary_key=True, autoincrement=False),
    # The version of Feedmill that began it.
    Column("feedmill", Word, nullable=False),
    timestamp("begun_at", required=True),
    # An interrupted migration goes on after these.
    count("statements_done"),
    timestamp("applied_at"),
)

instance_state = table(
    "instance_state",
    Column("name", ascii_text(128), primary_key=True),
    Column("value", LongText, nullable=False),
)

# Hosts that are not fetched from, nor are their subdomains.
blocked_hosts = table(
    "blocked_hosts",
    Column("host", ascii_text(255), primary_key=True),
    timestamp("at", required=True),
    Column("user_id", Id),
)

# Actions of administrators: who did what to what, and from which address.
audit = table(
    "audit",
    key(),
    timestamp("at", required=True),
    Column("user_id", Id),
    Column("action", Word, nullable=False),
    Column("subject", LongText),
    Column("address", ascii_text(64)),
    Index("audit_at", "at"),
)
