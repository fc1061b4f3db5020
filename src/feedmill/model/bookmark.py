"""Bookmarks: pages that a user saved by their URL."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

# So many tries to see what a page is about, and these pauses between them.
MAX_ATTEMPTS = 3
RETRY_DELAYS = (timedelta(minutes=5), timedelta(hours=1))


class BookmarkStatus(StrEnum):
    PENDING = "pending"
    FETCHED = "fetched"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Bookmark:
    """What the page says of itself is None until it was fetched, and where it says nothing."""

    id: int
    user_id: int
    url: str
    title: str | None
    description: str | None
    image_url: str | None
    note: str | None
    status: BookmarkStatus
    attempts: int
    last_error: str | None
    created_at: datetime
    fetched_at: datetime | None


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """What a page says of itself."""

    title: str | None = None
    description: str | None = None
    image_url: str | None = None


@dataclass(frozen=True, slots=True)
class PageFetchFailed:
    """Why a page was not read, and when it is tried again; None for never. `counted`: it was a try."""

    reason: str
    again_at: datetime | None
    counted: bool = True
