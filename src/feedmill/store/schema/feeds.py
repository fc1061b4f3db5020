"""Tables of feeds, their former URLs, their icons and the fetch log."""

from sqlalchemy import Column, Index, SmallInteger

from feedmill.store.columns import (
    Id,
    LongText,
    Token,
    Url,
    Word,
    ascii_text,
    belongs_to,
    count,
    flag,
    key,
    size,
    timestamp,
)
from feedmill.store.schema.metadata import table

feeds = table(
    "feeds",
    key(),
    Column("url", Url, nullable=False, unique=True),
    Column("host", ascii_text(255), nullable=False),
    Column("title", LongText),
    # The operator's title and folder (a JSON list); a refresh does not change them.
    Column("own_title", LongText),
    Column("folder", LongText),
    Column("site_url", LongText),
    Column("description", LongText),
    Column("language", ascii_text(64)),
    Column("icon_url", LongText),
    Column("image_url", LongText),
    # Its WebSub hub, its name there, and until when the hub pushes: empty if nothing shows that it does.
    Column("hub_url", LongText),
    Column("topic_url", LongText),
    timestamp("pushed_until"),
    Column("status", Word, nullable=False, server_default="active"),
    Column("archive_policy", Word, nullable=False, server_default="all"),
    Column("http_options", LongText),
    # Some subscriber has settings that apply to new entries.
    flag("has_entry_settings"),
    flag("added_by_person"),
    flag("declared"),
    # Validators of the last complete response; saved only together with its entries.
    Column("etag", LongText),
    Column("last_modified", LongText),
    Column("body_sha256", Token),
    # The digest of its descriptor in the object store.
    Column("descriptor_sha256", Token),
    # The schedule. Without next_fetch_at it is never due (disabled, paused, at rest).
    timestamp("next_fetch_at"),
    Column("interval_seconds", Id),
    Column("usual_gap_seconds", Id),
    timestamp("last_fetched_at"),
    timestamp("last_success_at"),
    timestamp("last_entry_at"),
    count("consecutive_failures"),
    count("truncated_count"),
    Column("last_error", LongText),
    Column("last_error_kind", Word),
    timestamp("gone_since"),
    Column("moved_to", Url),
    count("moved_count"),
    # The feed that its subscribers were moved to. This one rests and keeps its entries.
    Column("merged_into", Id),
    # The expiry of the server's last certificate.
    timestamp("certificate_until"),
    count("entry_count"),
    # The claim. A write without the claim sets `claim_check` to NULL, which violates a constraint and undoes its batch.
    # In no index: then PostgreSQL can claim a feed without writing the indexes of its row.
    Column("claim_token", Token),
    timestamp("claimed_until"),
    flag("claim_check"),
    timestamp("created_at", required=True),
    # Long, and mostly the same after a fetch. They stand behind what a fetch changes: PostgreSQL logs of a changed row
    # what lies between the first and the last difference.
    Column("next_fetch_why", LongText),
    Column("polling_hints", LongText),
    Index("feeds_due", "next_fetch_at"),
    Index("feeds_host", "host"),
)

feed_urls = table(
    "feed_urls",
    key(),
    belongs_to("feeds"),
    Column("url", Url, nullable=False),
    timestamp("until", required=True),
    Index("feed_urls_url", "url"),
    Index("feed_urls_feed", "feed_id"),
)


fetch_log = table(
    "fetch_log",
    key(),
    belongs_to("feeds"),
    timestamp("at", required=True),
    Column("outcome", Word, nullable=False),
    Column("http_status", SmallInteger),
    size("bytes"),
    count("ms"),
    count("new_entries"),
    count("revised_entries"),
    Column("message", LongText),
    Index("fetch_log_of_feed", "feed_id", "at"),
    Index("fetch_log_at", "at"),
    # By day, on PostgreSQL alone: see `store/feeds/fetch_log_days.py`.
    info={"partitioned_by": "at"},
)


# Icons of feeds in base64, and when they are fetched next.
icons = table(
    "icons",
    belongs_to("feeds", primary_key=True, autoincrement=False),
    Column("url", LongText),
    Column("sha256", Token),
    Column("media_type", ascii_text(128)),
    count("attempts"),
    timestamp("next_attempt_at", required=True),
    Column("claim_token", Token),
    timestamp("fetched_at"),
    # Last, so that reading the columns before it does not read its pages.
    Column("data", LongText),
    Index("icons_waiting", "next_attempt_at", "feed_id"),
    Index("icons_claimed", "claim_token"),
    Index("icons_by_digest", "sha256", "feed_id"),
)
