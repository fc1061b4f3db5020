"""Fetches the full text of an entry from the page that it links to, when a user asks for it."""

import asyncio
from datetime import datetime
from math import ceil

from feedmill.collect.entries.storable_text import storable_text
from feedmill.collect.parsing.decode import decode_page
from feedmill.errors import Conflict, LimitExceeded
from feedmill.html.selectors import parse_selector
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import find_entry
from feedmill.library.users.limits import check_byte_quota
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Refused, Response, Retryable, Throttled
from feedmill.optional_imports import import_by_name
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.store.database import Database
from feedmill.store.entries.full_texts import save_full_texts

LIMITS = FetchLimits(max_bytes=4_000_000)
# Imports lxml's HTML parser; done in the thread that first extracts an article.
MAIN_HTML = "feedmill.html.readability:extract_article"
PAGE_TYPES = ("", "text/html", "application/xhtml+xml")
# Bytes; what every database can store in one row. Longer texts are cut.
MAX_STORED_BYTES = 1_500_000


class NoFullText(Conflict):
    """The full text can't be fetched or extracted; `code` says why."""

    def __init__(self, code: str, message: Message) -> None:
        super().__init__(message)
        self.code = code


async def fetch_full_text(
    db: Database, client: Client, user_id: int, entry_id: int, now: datetime, *, again: bool = False
) -> None:
    """Fetches and stores the full text, unless it is stored; `again` fetches it again."""
    entry = await find_entry(db, user_id, entry_id)
    if entry.full_html and not again:
        return
    if not entry.link:
        raise NoFullText("no_link", Message("error.entry_without_link"))
    await check_byte_quota(db, user_id)
    response = _page(await client.get(entry.link, limits=LIMITS), now)
    html = await asyncio.to_thread(extract_full_text, response, entry.settings)
    await save_full_texts(db, entry_id, response.final_url, {entry.settings.selector_digest: html}, now)


def _page(outcome: FetchOutcome, now: datetime) -> Response:
    match outcome:
        case Response():
            return outcome
        case Throttled(until=until) | Deferred(until=until):
            raise LimitExceeded(Message("error.site_throttles"), max(1, ceil((until - now).total_seconds())))
        case Refused(kind="address" | "port"):
            raise NoFullText("refused_address", outcome.detail)
        case Refused(detail=detail) | Retryable(detail=detail):
            raise NoFullText("unreachable", detail)
    raise NoFullText("unreachable", Message("fetch.status", status=outcome.status))


def extract_full_text(response: Response, way: FeedSettings) -> str:
    """The article of the page, by the user's selectors if there are any; raises `NoFullText`."""
    if response.content_type.partition(";")[0].strip().lower() not in PAGE_TYPES:
        raise NoFullText("not_a_page", Message("error.link_not_a_page"))
    page = decode_page(response.body, response.content_type)
    found: str | None = import_by_name(MAIN_HTML)(
        page, parse_selector(way.keep_selector), parse_selector(way.drop_selector)
    )
    if found is None:
        raise NoFullText("no_text", Message("error.no_article"))
    return storable_text(found, MAX_STORED_BYTES) or ""
