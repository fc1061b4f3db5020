"""Feeds that the object store tells of and the database does not know."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from feedmill.model.times import to_text
from feedmill.store.additions import ids_of_urls, lots
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.feeds import add_feed, host_of
from feedmill.store.numbering import number_after
from feedmill.store.schema import feeds

WHY = "found in the object store"
ADOPT = insert_new(
    feeds, "id", "url", "host", "title", "added_by_person", "next_fetch_at", "next_fetch_why", "created_at"
)


class Found(NamedTuple):
    id: int
    url: str
    title: str | None


async def adopt_feeds(db: Database, found: Sequence[Found], now: datetime) -> dict[int, int]:
    """Makes these feeds known, each under its old id if that is free; the id that each has now."""
    known = await ids_of_urls(db, [one.url for one in found])
    unknown = [one for one in found if one.url not in known]
    for lot in lots(unknown):
        await db.batch([Step(ADOPT, [_row(one, now) for one in lot])])
    await number_after(db, feeds)
    known |= await ids_of_urls(db, [one.url for one in unknown])
    for one in unknown:
        if one.url not in known:
            known[one.url] = (await add_feed(db, one.url, now, one.title)).id
    return {one.id: known[one.url] for one in found}


def _row(found: Found, now: datetime) -> dict[str, object]:
    return {
        "id": found.id, "url": found.url, "host": host_of(found.url), "title": found.title, "added_by_person": 1,
        "next_fetch_at": to_text(now), "next_fetch_why": WHY, "created_at": to_text(now),
    }  # fmt: skip
