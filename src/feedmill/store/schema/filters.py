"""Tables of filters, of what they matched and did, and of jobs that apply them to stored entries."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint

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

filters = table(
    "filters",
    key(),
    belongs_to("users"),
    Column("kind", Word, nullable=False, server_default="filter"),
    Column("name", exact_text(190), nullable=False),
    # Not `condition`, which is a word of SQL.
    Column("query", LongText, nullable=False),
    # `all`, `folder` or `feed`. A filter whose folder or subscription was deleted matches nothing.
    Column("scope", Word, nullable=False, server_default="all"),
    refers_to("folders", name="folder_id"),
    refers_to("subscriptions", name="subscription_id"),
    Column("actions", LongText, nullable=False),
    flag("stops"),
    flag("enabled"),
    count("position"),
    # What a mute or a follow is about, as JSON.
    Column("subject", LongText),
    timestamp("expires_at"),
    count("hit_count"),
    timestamp("last_hit_at"),
    timestamp("created_at", required=True),
    # Chosen before the row is added, which is found by it.
    Column("creation_key", Token),
    # Deleted filters stay as long as there is something that they did, so that it can be shown and taken back.
    timestamp("deleted_at"),
    Index("filters_of_user", "user_id", "position"),
    Index("filters_deleted", "deleted_at"),
    Index("filters_of_folder", "folder_id"),
    Index("filters_of_subscription", "subscription_id"),
)

# The entries that a filter matched, whether it changed them or not.
filter_hits = table(
    "filter_hits",
    belongs_to("filters"),
    belongs_to("entries", name="entry_id"),
    timestamp("at", required=True),
    PrimaryKeyConstraint("filter_id", "entry_id"),
    Index("filter_hits_of_entry", "entry_id"),
    sqlite_with_rowid=False,
)

# What filters changed, and the user has not changed since. A row is deleted when it is undone, or when the user sets
# the same mark: it is the user's from then on.
filter_effects = table(
    "filter_effects",
    belongs_to("users"),
    Column("action", Word, nullable=False),
    belongs_to("entries", name="entry_id"),
    # The label or the pool group, else 0.
    Column("target_id", Id, nullable=False, server_default="0"),
    belongs_to("filters"),
    # The job that did it; None: a refresh.
    Column("job_id", Id),
    timestamp("at", required=True),
    PrimaryKeyConstraint("user_id", "action", "entry_id", "target_id"),
    Index("filter_effects_of_filter", "filter_id", "entry_id"),
    Index("filter_effects_of_entry", "entry_id"),
    sqlite_with_rowid=False,
)

filter_jobs = table(
    "filter_jobs",
    key(),
    belongs_to("users"),
    belongs_to("filters"),
    Column("kind", Word, nullable=False),
    Column("status", Word, nullable=False, server_default="running"),
    # Set while the job runs: the same request joins the running job. A note that a filter left out new entries has one
    # too: it is no job, and there is one for a filter.
    Column("running_key", ascii_text(64), unique=True),
    Column("undoes_job_id", Id),
    count("total"),
    count("looked_at"),
    count("changed"),
    # Where the next chunk begins.
    Column("chunk_start", ascii_text(64), nullable=False, server_default=""),
    timestamp("created_at", required=True),
    timestamp("finished_at"),
    timestamp("next_attempt_at"),
    # How often it was taken since a chunk was last done or the job released.
    count("attempts"),
    Column("last_error", LongText),
    Column("claim_token", Token),
    # NOT NULL: a chunk sets it to NULL unless its claim still holds, which rolls it back.
    flag("claim_check"),
    Index("filter_jobs_of_user", "user_id", "id"),
    Index("filter_jobs_of_filter", "filter_id", "id"),
    Index("filter_jobs_waiting", "status", "next_attempt_at"),
    Index("filter_jobs_claimed", "claim_token"),
)
