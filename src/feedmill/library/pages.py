"""What a saved page is about: fetched in the background, a lot at a time.

take → fetch → read the head of the page → settle
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.collect.html import plain_text
from feedmill.collect.keepable import text as keepable
from feedmill.collect.links import absolute
from feedmill.collect.page import read_page
from feedmill.engine.side_by_side import all_of
from feedmill.model.bookmark import MOST_TRIES, PAUSES, Bookmark, PageFacts, Unread
from feedmill.model.outcome import Deferred, Gone, HttpError, Outcome, Refused, Response, Retryable, Throttled
from feedmill.outbound.client import Client
from feedmill.outbound.options import Limits
from feedmill.store.bookmarks import let_go, settle_fetched, settle_missed, take_bookmarks
from feedmill.store.database import Database

LOT = 20
SOFT_LIMIT = timedelta(seconds=80)
LIMITS = Limits(max_bytes=4_000_000)
TITLES = ("og:title", "twitter:title")
DESCRIPTIONS = ("og:description", "description", "twitter:description")
IMAGES = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image")
LONGEST_TITLE = 500
LONGEST_DESCRIPTION = 2000


@dataclass(frozen=True, slots=True)
class PageReader:
    """What saved pages are fetched with."""

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = SOFT_LIMIT


async def read_pages(reader: PageReader) -> int:
    """Fetches a lot of the pages that wait; how many there were."""
    token, lot = await take_bookmarks(reader.db, reader.clock(), LOT)
    if not lot:
        return 0
    try:
        async with asyncio.timeout(reader.soft_limit.total_seconds()):
            await all_of([_read(reader, bookmark, token) for bookmark in lot])
    except TimeoutError:
        pass  # what was not reached waits for the next lot
    finally:
        await asyncio.shield(let_go(reader.db, token, reader.clock()))
    return len(lot)


async def _read(reader: PageReader, bookmark: Bookmark, token: str) -> None:
    outcome = await reader.client.get(bookmark.url, limits=LIMITS)
    now = reader.clock()
    if isinstance(outcome, Response):
        facts = await asyncio.to_thread(facts_of, outcome)
        await settle_fetched(reader.db, bookmark.id, token, facts, now)
    else:
        await settle_missed(reader.db, bookmark.id, token, judge(outcome, bookmark.attempts + 1, now))


def facts_of(response: Response) -> PageFacts:
    """What a page says of itself; nothing for what is no page, and for an image the image."""
    kind = response.content_type.partition(";")[0].strip().lower()
    if kind.startswith("image/"):
        return PageFacts(image_url=keepable(response.final_url))
    if kind and kind not in ("text/html", "application/xhtml+xml"):
        return PageFacts()
    page = read_page(response.body, content_type=response.content_type, url=response.final_url)
    return PageFacts(
        _line(_first(page.meta, TITLES) or page.title, LONGEST_TITLE),
        _line(_first(page.meta, DESCRIPTIONS), LONGEST_DESCRIPTION),
        keepable(absolute(_first(page.meta, IMAGES), response.final_url)),
    )


def judge(outcome: Outcome, tries: int, now: datetime) -> Unread:
    """What an answer that is no page means for one that was tried so many times with this one."""
    again_at = None if tries >= MOST_TRIES else now + PAUSES[tries - 1]
    match outcome:
        case Deferred(until=until):
            return Unread("its host has no turn for us", until, counted=False)
        case Throttled(status=status, until=until):
            return Unread(f"the server asks for a rest ({status})", again_at and max(until, again_at))
        case Gone(status=status) | HttpError(status=404 as status):
            return Unread(f"the server says {status}", None)
        case Refused(detail=detail):
            return Unread(detail, None)
        case Retryable(detail=detail):
            return Unread(detail, again_at)
    return Unread(f"the server says {outcome.status}", again_at)


def _first(meta: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((meta[name] for name in names if meta.get(name, "").strip()), "")


def _line(said: str, most: int) -> str | None:
    return keepable(plain_text(said, most)) or None
