"""Searching: a text in the search language becomes a page of a person's entries."""

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from feedmill.library.cursors import NotOurs, from_cursor, to_cursor
from feedmill.library.limits import check_number
from feedmill.library.reading import Listed, as_listed
from feedmill.library.search_language import parse
from feedmill.library.search_names import load_names
from feedmill.library.search_tokens import cut
from feedmill.model.reading import Place
from feedmill.model.search import Condition, Every, Order
from feedmill.model.times import from_text
from feedmill.store.database import Database, Row
from feedmill.store.saved_searches import save_search
from feedmill.store.search import RANKED, find_best, find_newest

_RANK_CURSOR = re.compile(r"r(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks: in what order, and for how many beyond where the last page ended.

    `within` is a search of its own that holds as well, such as `feed:3`.
    """

    text: str
    order: Order = "rank"
    cursor: str | None = None
    most: int = 50
    within: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """`next` is None on the last page; by rank, pages end after the newest that are weighed."""

    items: list[Listed]
    next: str | None


async def search(db: Database, user_id: int, asked: Asked, now: datetime) -> Found:
    """The entries that a person's search finds among what they may see; raises `BadSearch`."""
    condition = await read_search(db, user_id, asked.text, now)
    if asked.within:
        condition = Every((await read_search(db, user_id, asked.within, now), condition))
    if asked.order == "date":
        return await _newest(db, user_id, condition, asked)
    return await _best(db, user_id, condition, asked)


async def keep_search(db: Database, user_id: int, name: str, text: str) -> Row:
    """Keeps a search that was read before under a name; raises `SearchExists` for one that is taken."""
    await check_number(db, user_id, "saved_searches")
    return await save_search(db, user_id, name, text)


async def read_search(db: Database, user_id: int, text: str, now: datetime) -> Condition:
    """What a text asks for, with its names looked up; raises `BadSearch`."""
    tokens = cut(text)
    return parse(tokens, await load_names(db, user_id, tokens), now)


async def _newest(db: Database, user_id: int, condition: Condition, asked: Asked) -> Found:
    found = await find_newest(db, condition, user_id, asked.most + 1, _below(asked.cursor))
    items = as_listed(islice(found.values(), asked.most))
    is_last = len(found) <= asked.most or not items
    return Found(items, None if is_last else to_cursor(Place(items[-1].sort_at, items[-1].id)))


async def _best(db: Database, user_id: int, condition: Condition, asked: Asked) -> Found:
    skipped = _skipped(asked.cursor)
    found = await find_best(db, condition, user_id, asked.most + 1, skipped)
    items = as_listed(islice(found.values(), asked.most))
    return Found(items, f"r{skipped + asked.most}" if len(found) > asked.most else None)


def _below(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    place = from_cursor(cursor)
    try:
        from_text(place.at)
    except ValueError:
        raise NotOurs from None
    return place


def _skipped(cursor: str | None) -> int:
    if cursor is None:
        return 0
    read = _RANK_CURSOR.fullmatch(cursor)
    if read is None or int(read[1]) > RANKED:
        raise NotOurs
    return int(read[1])
