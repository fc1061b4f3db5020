"""Derives the webhook events of a refresh."""

from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus
from feedmill.model.refresh import Failed, RefreshDecision, Unchanged, Updated
from feedmill.model.webhook import WebhookEvent


def events_of(feed: Feed, decision: RefreshDecision) -> list[WebhookEvent]:
    """The events of a refresh, given the feed as it was before."""
    match decision:
        case Updated(changes=changes):
            return [*_recovery(feed), *([WebhookEvent.NEW_ENTRIES] if changes.new else [])]
        case Unchanged():
            return _recovery(feed)
        case Failed():
            return [WebhookEvent.FEED_FAILING] if _starts_failing(feed, decision) else []
    return []


def _recovery(feed: Feed) -> list[WebhookEvent]:
    was_gone = feed.status is FeedStatus.DISABLED and feed.gone_since is not None
    return [WebhookEvent.FEED_HEALED] if feed.status is FeedStatus.ERROR or was_gone else []


def _starts_failing(feed: Feed, failed: Failed) -> bool:
    """Whether this failure changes the feed's status to `error` or disables it."""
    if feed.status is FeedStatus.DISABLED:
        return False
    if failed.disables:
        return True
    return feed.status is not FeedStatus.ERROR and feed.consecutive_failures + int(failed.counted) >= ERROR_AFTER
