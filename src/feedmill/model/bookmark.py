"""Bookmarks: pages that a user saved by their URL."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from feedmill.i18n.messages import Message

# Attempts to fetch the page, and the delays between them.
MAX_ATTEMPTS = 3
RETRY_DELAYS = (timedelta(minutes=5), timedelta(hours=1))


class BookmarkStatus(StrEnum):
    PENDING = "pending"
    FETCHED = "fetched"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Title, description and image are None until the page was fetched, and if it has none."""

    id: int
    user_id: int
    url: str
    title: str | None
    description: str | None
    image_url: str | None
    note: str | None
    status: BookmarkStatus
    attempts: int
    last_error: Message | None
    created_at: datetime
    fetched_at: datetime | None


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The title, description and image that a page declares."""

    title: str | None = None
    description: str | None = None
    image_url: str | None = None


@dataclass(frozen=True, slots=True)
class PageFetchFailed:
    """Why a page was not fetched, and when it is retried; None for never. `counted`: it counts as an attempt."""

    reason: Message
    again_at: datetime | None
    counted: bool = True
