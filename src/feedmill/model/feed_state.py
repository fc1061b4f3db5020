"""The current state of a feed in one word: running, due, failing, disabled."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal

from feedmill.model.feed import Feed, FeedStatus

FeedState = Literal["running", "disabled", "error", "failing", "resting", "new", "due", "ok"]


def feed_state(feed: Feed, now: datetime) -> FeedState:
    """The most important state of a feed; several may hold, see `IS_IN_STATE`."""
    words: tuple[FeedState, ...] = ("running", "disabled", "error", "failing", "resting", "new", "due")
    return next((word for word in words if IS_IN_STATE[word](feed, now)), "ok")


def _is_running(feed: Feed, now: datetime) -> bool:
    return feed.claimed_until is not None and feed.claimed_until > now


def _is_due(feed: Feed, now: datetime) -> bool:
    return feed.next_fetch_at is not None and feed.next_fetch_at <= now and not _is_running(feed, now)


IS_IN_STATE: Mapping[str, Callable[[Feed, datetime], bool]] = {
    "running": _is_running,
    "due": _is_due,
    "disabled": lambda feed, now: feed.status is FeedStatus.DISABLED,
    "error": lambda feed, now: feed.status is FeedStatus.ERROR,
    "failing": lambda feed, now: feed.consecutive_failures > 0 and feed.status is not FeedStatus.DISABLED,
    "resting": lambda feed, now: feed.next_fetch_at is None and feed.status is not FeedStatus.DISABLED,
    "new": lambda feed, now: feed.last_fetched_at is None,
}
