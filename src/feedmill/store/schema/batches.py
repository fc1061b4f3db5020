"""Tables of batches and their jobs."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint

from feedmill.store.columns import Id, LongText, Token, Word, ascii_text, belongs_to, count, key, timestamp
from feedmill.store.schema.metadata import table

batches = table(
    "batches",
    key(),
    Column("token", Token, nullable=False, unique=True),
    Column("kind", Word, nullable=False),
    Column("user_id", Id),
    # Set while the batch runs: the same request joins the running batch.
    Column("running_key", ascii_text(128), unique=True),
    Column("status", Word, nullable=False, server_default="running"),
    count("total"),
    # JSON; for an import, the lines that could not be imported.
    Column("report", LongText),
    timestamp("created_at", required=True),
    timestamp("heartbeat_at", required=True),
    timestamp("finished_at"),
    timestamp("cancelled_at"),
    Index("batches_of_user", "user_id", "created_at"),
    Index("batches_running", "status", "heartbeat_at"),
)

batch_jobs = table(
    "batch_jobs",
    belongs_to("batches", name="batch_id"),
    Column("feed_id", Id, nullable=False),
    Column("outcome", Word),
    count("new_entries"),
    count("ms"),
    Column("message", LongText),
    timestamp("finished_at"),
    PrimaryKeyConstraint("batch_id", "feed_id"),
    Index("batch_jobs_done", "batch_id", "finished_at"),
)
