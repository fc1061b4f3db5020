"""Runs a search over a user's entries, page by page."""

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from feedmill.library.cursors import BadCursor, from_cursor, to_cursor
from feedmill.library.entries.list_entries import EntrySummary, to_summaries
from feedmill.library.search.query_names import load_names
from feedmill.library.search.query_parser import parse_query
from feedmill.library.search.query_tokens import tokenize
from feedmill.model.entry_lists import ListPosition
from feedmill.model.search_query import And, SearchCondition, SearchOrder
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.search.find_entries import RANKED, count_matches, find_best_matches, find_newest_matches

# Matches are looked at one by one to know whether the user may see them.
MOST_COUNTED = 10_000

_RANK_CURSOR = re.compile(r"r(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query, its order, and the page that is wanted.

    `within` is a second query that must match as well, such as `feed:3`.
    """

    text: str
    order: SearchOrder = "rank"
    cursor: str | None = None
    most: int = 50
    within: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`next` is None on the last page; by rank, only the newest matches are ranked."""

    items: list[EntrySummary]
    next: str | None


async def run_search(db: Database, user_id: int, request: SearchRequest, now: datetime) -> SearchResult:
    """The entries that match, among those that the user may see; raises `BadSearch`."""
    condition = await _condition(db, user_id, request, now)
    if request.order == "date":
        return await _newest(db, user_id, condition, request)
    return await _best(db, user_id, condition, request)


async def count_results(
    db: Database, user_id: int, request: SearchRequest, now: datetime, seconds: float
) -> int | None:
    """How many entries match, None if counting takes longer than `seconds`; raises `BadSearch`.

    One more than `MOST_COUNTED` stands for any greater number.
    """
    if seconds <= 0:
        return None
    condition = await _condition(db, user_id, request, now)
    try:
        async with asyncio.timeout(seconds):
            return await count_matches(db, condition, user_id, MOST_COUNTED + 1)
    except TimeoutError:
        return None


async def _condition(db: Database, user_id: int, request: SearchRequest, now: datetime) -> SearchCondition:
    condition = await parse_search(db, user_id, request.text, now)
    if request.within:
        condition = And((await parse_search(db, user_id, request.within, now), condition))
    return condition


async def parse_search(db: Database, user_id: int, text: str, now: datetime) -> SearchCondition:
    """The condition of a query, with its names resolved; raises `BadSearch`."""
    tokens = tokenize(text)
    return parse_query(tokens, await load_names(db, user_id, tokens), now)


async def _newest(db: Database, user_id: int, condition: SearchCondition, request: SearchRequest) -> SearchResult:
    found = await find_newest_matches(db, condition, user_id, request.most + 1, _below(request.cursor))
    items = to_summaries(islice(found.values(), request.most))
    is_last = len(found) <= request.most or not items
    return SearchResult(items, None if is_last else to_cursor(ListPosition(items[-1].sort_at, items[-1].id)))


async def _best(db: Database, user_id: int, condition: SearchCondition, request: SearchRequest) -> SearchResult:
    skipped = _skipped(request.cursor)
    found = await find_best_matches(db, condition, user_id, request.most + 1, skipped)
    items = to_summaries(islice(found.values(), request.most))
    return SearchResult(items, f"r{skipped + request.most}" if len(found) > request.most else None)


def _below(cursor: str | None) -> ListPosition | None:
    if cursor is None:
        return None
    place = from_cursor(cursor)
    try:
        from_iso(place.at)
    except ValueError:
        raise BadCursor from None
    return place


def _skipped(cursor: str | None) -> int:
    if cursor is None:
        return 0
    read = _RANK_CURSOR.fullmatch(cursor)
    if read is None or int(read[1]) > RANKED:
        raise BadCursor
    return int(read[1])
