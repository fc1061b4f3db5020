"""The whole article behind an entry, fetched when a reader asks for it, and kept."""

import asyncio
from datetime import datetime
from math import ceil

from feedmill.collect.keepable import text as keepable
from feedmill.collect.page import decode_page
from feedmill.errors import Conflict, TooMany
from feedmill.library.article import find_entry
from feedmill.library.limits import check_room
from feedmill.library.main_text import main_html
from feedmill.library.selectors import read_selector
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.outcome import Deferred, Outcome, Refused, Response, Retryable, Throttled
from feedmill.outbound.client import Client
from feedmill.outbound.options import Limits
from feedmill.store.database import Database
from feedmill.store.feed_settings import decoded
from feedmill.store.full_texts import keep_full_texts

LIMITS = Limits(max_bytes=4_000_000)
PAGES = ("", "text/html", "application/xhtml+xml")
# Bytes; as many as every database takes in one row. What is longer is cut.
LONGEST = 1_500_000


class NoFullText(Conflict):
    """The whole article can't be had; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


async def fetch_full_text(
    db: Database, client: Client, user_id: int, entry_id: int, now: datetime, *, again: bool = False
) -> None:
    """Has the whole article kept, unless it is; `again` fetches it anew."""
    entry = await find_entry(db, user_id, entry_id)
    if entry["full_html"] and not again:
        return
    if not entry["link"]:
        raise NoFullText("no_link", "the entry links to no page")
    await check_room(db, user_id)
    response = _page(await client.get(entry["link"], limits=LIMITS), now)
    way = decoded(entry["settings"])
    html = await asyncio.to_thread(cut_out, response, way)
    await keep_full_texts(db, entry_id, response.final_url, {way.recipe: html}, now)


def _page(outcome: Outcome, now: datetime) -> Response:
    match outcome:
        case Response():
            return outcome
        case Throttled(until=until) | Deferred(until=until):
            raise TooMany("the site asks for a rest", max(1, ceil((until - now).total_seconds())))
        case Refused(kind="address" | "port"):
            raise NoFullText("refused_address", outcome.detail)
        case Refused(detail=detail) | Retryable(detail=detail):
            raise NoFullText("unreachable", detail)
    raise NoFullText("unreachable", f"the server says {outcome.status}")


def cut_out(response: Response, way: FeedSettings) -> str:
    """The article of the page, by the person's selectors if they have any; raises `NoFullText`."""
    if response.content_type.partition(";")[0].strip().lower() not in PAGES:
        raise NoFullText("not_a_page", "the link leads to no web page")
    page = decode_page(response.body, response.content_type)
    found = main_html(page, read_selector(way.keep_selector), read_selector(way.drop_selector))
    if found is None:
        raise NoFullText("no_text", "no article was found on the page")
    return keepable(found, LONGEST) or ""
