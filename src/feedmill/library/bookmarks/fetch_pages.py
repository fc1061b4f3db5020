"""Fetches the title, description and image of bookmarked pages in the background.

claim → fetch → read the metadata of the page → record the result
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime

from feedmill.absolute_urls import absolute_url
from feedmill.collect.entries.storable_text import storable_text
from feedmill.collect.parsing.decode import decode_page
from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.html.plain_text import plain_text
from feedmill.html.web_page import MAX_PAGE_BYTES, read_page
from feedmill.i18n.messages import Message
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.bookmark import MAX_ATTEMPTS, RETRY_DELAYS, Bookmark, PageFetchFailed, PageMetadata
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    Refused,
    Response,
    Retryable,
    Throttled,
)
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.store.bookmarks.page_fetches import (
    record_page_failed,
    record_page_fetched,
    release_bookmarks,
    take_bookmarks,
)

TASKS_AT_ONCE = 20
LIMITS = FetchLimits(max_bytes=4_000_000)
TITLES = ("og:title", "twitter:title")
DESCRIPTIONS = ("og:description", "description", "twitter:description")
IMAGES = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image")
LONGEST_TITLE = 500
LONGEST_DESCRIPTION = 2000


async def fetch_bookmark_pages(tools: OutboundTools) -> int:
    """Fetches some of the due pages; how many there were."""
    token, taken = await take_bookmarks(tools.db, tools.clock(), TASKS_AT_ONCE)
    if not taken:
        return 0
    work = [_fetch_page(tools, bookmark, token) for bookmark in taken]
    await run_leased_tasks(work, tools.soft_limit, lambda: release_bookmarks(tools.db, token, tools.clock()))
    return len(taken)


async def _fetch_page(tools: OutboundTools, bookmark: Bookmark, token: str) -> None:
    outcome = await tools.client.get(bookmark.url, limits=LIMITS)
    now = tools.clock()
    if isinstance(outcome, Response):
        facts = await asyncio.to_thread(page_facts, outcome)
        await record_page_fetched(tools.db, bookmark.id, token, facts, now)
    else:
        await record_page_failed(tools.db, bookmark.id, token, failed_page_fetch(outcome, bookmark.attempts + 1, now))


def page_facts(response: Response) -> PageMetadata:
    """The metadata of a page; for an image its URL, for any other document nothing."""
    kind = response.content_type.partition(";")[0].strip().lower()
    if kind.startswith("image/"):
        return PageMetadata(image_url=storable_text(response.final_url))
    if kind and kind not in ("text/html", "application/xhtml+xml"):
        return PageMetadata()
    html = decode_page(response.body[:MAX_PAGE_BYTES], response.content_type)
    page = read_page(html, response.final_url)
    return PageMetadata(
        _line(_first(page.meta, TITLES) or page.title, LONGEST_TITLE),
        _line(_first(page.meta, DESCRIPTIONS), LONGEST_DESCRIPTION),
        storable_text(absolute_url(_first(page.meta, IMAGES), response.final_url)),
    )


def failed_page_fetch(outcome: FetchOutcome, attempts: int, now: datetime) -> PageFetchFailed:
    """What a failed request means for the page after so many attempts, including this one."""
    again_at = None if attempts >= MAX_ATTEMPTS else now + RETRY_DELAYS[attempts - 1]
    match outcome:
        case Deferred(until=until):
            return PageFetchFailed(Message("image.no_turn"), until, counted=False)
        case Throttled(status=status, until=until):
            return PageFetchFailed(Message("fetch.throttled", status=status), again_at and max(until, again_at))
        case Gone(status=status) | HttpError(status=404 as status):
            return PageFetchFailed(Message("fetch.status", status=status), None)
        case Refused(detail=detail):
            return PageFetchFailed(detail, None)
        case Retryable(detail=detail):
            return PageFetchFailed(detail, again_at)
    return PageFetchFailed(Message("fetch.status", status=outcome.status), again_at)


def _first(meta: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((meta[name] for name in names if meta.get(name, "").strip()), "")


def _line(text: str, most: int) -> str | None:
    return storable_text(plain_text(text, most)) or None
