"""Derives the webhook events of a refresh."""

from feedmill.model.feed import ERROR_AFTER, Feed, FeedStatus
from feedmill.model.refresh import Failed, RefreshDecision, Unchanged, Updated
from feedmill.model.webhook import WebhookEvent


def events_of(feed: Feed, decision: RefreshDecision) -> list[WebhookEvent]:
    """The events of a refresh, given the feed as it was before."""
    match decision:
        case Updated(changes=changes):
            return [*_healed(feed), *([WebhookEvent.NEW_ENTRIES] if changes.new else [])]
        case Unchanged():
            return _healed(feed)
        case Failed():
            return [WebhookEvent.FEED_FAILING] if _breaks(feed, decision) else []
    return []


def _healed(feed: Feed) -> list[WebhookEvent]:
    was_gone = feed.status is FeedStatus.DISABLED and feed.gone_since is not None
    return [WebhookEvent.FEED_HEALED] if feed.status is FeedStatus.ERROR or was_gone else []


def _breaks(feed: Feed, failed: Failed) -> bool:
    """Whether it is this failure that makes the feed count as broken."""
    if feed.status is FeedStatus.DISABLED:
        return False
    if failed.disables:
        return True
    return feed.status is not FeedStatus.ERROR and feed.consecutive_failures + int(failed.counted) >= ERROR_AFTER
