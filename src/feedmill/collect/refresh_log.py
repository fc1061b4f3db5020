"""Writes the log events of a refresh that an operator must see."""

from collections.abc import Mapping
from itertools import islice

from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus
from feedmill.model.parsed_feed import ParsedEntry
from feedmill.model.refresh import EntryDiff, Failed, RefreshDecision, Unchanged, Updated

log = get_logger(__name__)

# Of one document.
MAX_LOGGED_DATES = 20


def log_refresh(feed: Feed, decision: RefreshDecision) -> None:
    """Logs that a feed keeps failing, is disabled, works again, is truncated, renames entries or may have lost some."""
    about = {"feed_id": feed.id, "feed_url": feed.url}
    if isinstance(decision, Updated) and decision.changes.changed_guids:
        log.info("entry_guids_changed", entries=len(decision.changes.changed_guids), **about)
    match decision:
        case Failed(disables=True):
            log.error("feed_disabled", reason=decision.message, **about)
        case Failed(counted=True) if feed.consecutive_failures + 1 == ERROR_AFTER:
            log.error(
                "feed_failing",
                failures=ERROR_AFTER,
                last_success_at=feed.last_success_at,
                reason=str(decision.message),
                **about,
            )
        case Updated(truncated=True):
            _log_truncated(feed, decision)
        case Updated() | Unchanged() if feed.status is FeedStatus.ERROR:
            log.warning("feed_recovered", failures=feed.consecutive_failures, **about)
        case Updated(changes=EntryDiff(overflows=True)):
            log.warning("entries_possibly_missed", **about)


def _log_truncated(feed: Feed, decision: Updated) -> None:
    """Warns of the first truncated document in a row; the later ones are for information."""
    fields = {
        "times": feed.truncated_count + 1,
        "complete_entries": decision.entry_count,
        "next_fetch_at": decision.schedule.at,
        "feed_id": feed.id,
        "feed_url": feed.url,
    }
    if feed.truncated_count:
        log.info("feed_truncated", **fields)
    else:
        log.warning("feed_truncated", **fields)


def log_unreadable_dates(feed: Feed, entries: Mapping[str, ParsedEntry], changes: EntryDiff) -> None:
    """Logs the new entries that got the time of the fetch because their date can't be parsed."""
    new = ((entry.title, entries[entry.guid]) for entry in changes.new)
    unread = (
        (title, words)
        for title, entry in new
        if not (entry.published_at or entry.updated_at) and (words := entry.published_raw or entry.updated_raw)
    )
    for title, words in islice(unread, MAX_LOGGED_DATES):
        log.warning("entry_date_unreadable", date=words, feed_id=feed.id, feed_url=feed.url, title=title)
