"""What is collected: feeds, entries and how fetching them went."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, SmallInteger, UniqueConstraint

from feedmill.store.columns import (
    Id,
    LongText,
    Token,
    Url,
    Word,
    ascii_text,
    belongs_to,
    count,
    exact_text,
    flag,
    key,
    moment,
    size,
)
from feedmill.store.schema.tables import table

feeds = table(
    "feeds",
    key(),
    Column("url", Url, nullable=False, unique=True),
    Column("host", ascii_text(255), nullable=False),
    Column("title", LongText),
    # What the operator calls it and where it is filed (a JSON list); a refresh leaves both alone.
    Column("own_title", LongText),
    Column("folder", LongText),
    Column("site_url", LongText),
    Column("description", LongText),
    Column("language", ascii_text(64)),
    Column("icon_url", LongText),
    Column("image_url", LongText),
    Column("hub_url", LongText),
    Column("status", Word, nullable=False, server_default="active"),
    Column("archive_policy", Word, nullable=False, server_default="all"),
    Column("http_options", LongText),
    # Some subscriber has settings of their own: they are looked at when new entries come.
    flag("tailored"),
    flag("added_by_person"),
    flag("declared"),
    # What the last whole answer said of itself; saved only together with its entries.
    Column("etag", LongText),
    Column("last_modified", LongText),
    Column("body_sha256", Token),
    # The schedule. No next_fetch_at: never by itself (disabled, paused, at rest).
    moment("next_fetch_at"),
    Column("next_fetch_why", LongText),
    Column("interval_seconds", Id),
    Column("rhythm_seconds", Id),
    Column("wishes", LongText),
    moment("last_fetched_at"),
    moment("last_success_at"),
    moment("last_entry_at"),
    count("consecutive_failures"),
    Column("last_error", LongText),
    Column("last_error_kind", Word),
    moment("gone_since"),
    Column("moved_to", Url),
    count("moved_times"),
    # When the certificate ends that its server showed last.
    moment("certificate_until"),
    count("entry_count"),
    # The claim. `fence` is set to NULL, which it must not be, by a write without the claim: that undoes its batch.
    Column("claim_token", Token),
    moment("claimed_until"),
    flag("fence"),
    moment("created_at", required=True),
    Index("feeds_due", "next_fetch_at"),
    Index("feeds_claimed", "claim_token"),
    Index("feeds_host", "host"),
)

feed_urls = table(
    "feed_urls",
    key(),
    belongs_to("feeds"),
    Column("url", Url, nullable=False),
    moment("until", required=True),
    Index("feed_urls_url", "url"),
    Index("feed_urls_feed", "feed_id"),
)

entries = table(
    "entries",
    key(),
    belongs_to("feeds"),
    Column("guid", exact_text(512), nullable=False),
    # Where the entry stands in lists: its date, or when it was first seen if that is earlier.
    moment("sort_at", required=True),
    # The refresh that brought it, so that what depends on it is written in the same batch.
    Column("refresh_token", Token, nullable=False),
    Column("digest", Token, nullable=False),
    flag("in_feed"),
    moment("first_seen_at", required=True),
    moment("last_seen_at", required=True),
    moment("published_at"),
    moment("updated_at"),
    count("revision_count"),
    Column("language", ascii_text(64)),
    Column("link", LongText),
    Column("title", LongText),
    Column("author", LongText),
    Column("image_url", LongText),
    Column("comments_url", LongText),
    # What relative addresses in the texts refer to.
    Column("base_url", LongText),
    Column("categories", LongText),
    Column("enclosures", LongText),
    Column("summary", LongText),
    # Last, because reading the columns before it then never touches its pages.
    Column("content_html", LongText),
    UniqueConstraint("feed_id", "guid", name="entries_identity"),
    Index("entries_of_feed", "feed_id", "sort_at", "id"),
    Index("entries_in_feed", "feed_id", "in_feed", "last_seen_at"),
)

revisions = table(
    "revisions",
    key(),
    belongs_to("entries", name="entry_id"),
    count("number"),
    moment("seen_at", required=True),
    Column("digest", Token, nullable=False),
    Column("link", LongText),
    Column("title", LongText),
    Column("author", LongText),
    Column("summary", LongText),
    Column("content_html", LongText),
    UniqueConstraint("entry_id", "number", name="revisions_number"),
)

tombstones = table(
    "tombstones",
    belongs_to("feeds"),
    Column("guid", exact_text(512), nullable=False),
    moment("purged_at", required=True),
    PrimaryKeyConstraint("feed_id", "guid"),
)

fetch_log = table(
    "fetch_log",
    key(),
    belongs_to("feeds"),
    moment("at", required=True),
    Column("outcome", Word, nullable=False),
    Column("http_status", SmallInteger),
    size("bytes"),
    count("ms"),
    count("new_entries"),
    count("revised_entries"),
    Column("message", LongText),
    Index("fetch_log_of_feed", "feed_id", "at"),
    Index("fetch_log_at", "at"),
)
