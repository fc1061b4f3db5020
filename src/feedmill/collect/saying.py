"""What the operator must hear of a refresh, in the log and once."""

from collections.abc import Mapping
from itertools import islice

import structlog

from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus
from feedmill.model.parsed import ParsedEntry
from feedmill.model.refresh import Changes, Decision, Failed, Unchanged, Updated

log = structlog.get_logger(__name__)

# A feed whose dates are all odd says so often enough with these.
MOST_DATES = 20


def say_what_matters(feed: Feed, decision: Decision) -> None:
    """Says when a feed is given up for now, for good, or not any more."""
    about = {"feed": feed.url, "feed_id": feed.id}
    match decision:
        case Failed(disables=True):
            log.error("a feed is gone for good and was disabled", **about)
        case Failed(counted=True) if feed.consecutive_failures + 1 == ERROR_AFTER:
            log.error(
                "a feed keeps failing; it is tried once a day from now on",
                failures=ERROR_AFTER, last_success_at=feed.last_success_at, reason=decision.message, **about,
            )  # fmt: skip
        case Updated() | Unchanged() if feed.status is FeedStatus.ERROR:
            log.warning("a feed that kept failing works again", failures=feed.consecutive_failures, **about)
        case Updated(changes=Changes(overflows=True)):
            log.warning("a feed shares no entry with its last answer; some may have come and gone unseen", **about)


def say_unreadable_dates(feed: Feed, entries: Mapping[str, ParsedEntry], changes: Changes) -> None:
    """Says which new entries got the time of the fetch because nobody could read their date."""
    new = ((entry.title, entries[entry.guid]) for entry in changes.new)
    unread = (
        (title, words)
        for title, entry in new
        if not (entry.published_at or entry.updated_at) and (words := entry.published_raw or entry.updated_raw)
    )
    for title, words in islice(unread, MOST_DATES):
        log.warning("a date can't be read", raw=words, feed=feed.url, feed_id=feed.id, title=title)
