"""Icons of feeds: fetched in the background, a lot at a time, and asked for again once a month.

enrol → take → choose the address → fetch → recognise → keep
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from feedmill.archive.image_requests import ACCEPT
from feedmill.archive.image_types import HEIC, recognise
from feedmill.engine.side_by_side import all_of
from feedmill.model.image import Picture
from feedmill.model.outcome import Deferred, Outcome, Response, Throttled
from feedmill.outbound.client import Client
from feedmill.outbound.failures import Rejected
from feedmill.outbound.options import FetchOptions, Limits
from feedmill.outbound.urls import Target, parse
from feedmill.store.database import Database, Row
from feedmill.store.icons import Miss, enrol_feeds, keep_icon, let_go, settle_missed, take_waiting

LOT = 20
SOFT_LIMIT = timedelta(seconds=80)
# Looking for feeds without an icon reads all feeds.
ENROL_EVERY, ENROL_MOST = timedelta(minutes=5), 1000
FRESH = timedelta(days=30)
PAUSES = (timedelta(days=1), timedelta(days=7), timedelta(days=30))
LARGEST = 64_000
# Less patience than for what people asked for themselves.
LIMITS = Limits(max_bytes=LARGEST, read=timedelta(seconds=5), total=timedelta(seconds=10))
# Nothing of the feed's own: its icon is public, or it is none.
OPTIONS = FetchOptions(headers={"Accept": ACCEPT})
BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Icons:
    """What they are fetched with."""

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = SOFT_LIMIT
    enrol_at: datetime = field(init=False, default=BEGINNING)

    async def fetch(self) -> int:
        """Fetches a lot of those that are due; how many there were."""
        await self._enrol()
        token, lot = await take_waiting(self.db, self.clock(), most=LOT)
        if not lot:
            return 0
        try:
            async with asyncio.timeout(self.soft_limit.total_seconds()):
                await all_of([self._fetch(address, rows, token) for address, rows in by_address(lot).items()])
        except TimeoutError:
            pass  # what was not reached waits for the next lot
        finally:
            await asyncio.shield(let_go(self.db, token, self.clock()))
        return len(lot)

    async def _enrol(self) -> None:
        now = self.clock()
        if now >= self.enrol_at:
            await enrol_feeds(self.db, now, ENROL_MOST)
            self.enrol_at = now + ENROL_EVERY

    async def _fetch(self, address: str, rows: Sequence[Row], token: str) -> None:
        """Asks once for all feeds that have the same address."""
        outcome = await self.client.get(address, limits=LIMITS, options=OPTIONS)
        icon, now = icon_in(outcome), self.clock()
        if icon is None:
            await settle_missed(self.db, token, [missed(outcome, row, now) for row in rows])
        else:
            await keep_icon(self.db, [row["feed_id"] for row in rows], token, address, icon, now, now + FRESH)


def by_address(lot: Sequence[Row]) -> dict[str, list[Row]]:
    """The feeds of a lot by where their icon is asked for."""
    found: dict[str, list[Row]] = {}
    for row in lot:
        found.setdefault(address_of(row), []).append(row)
    return found


def address_of(row: Row) -> str:
    """Where the feed says that its icon is; at its site's root when it says nothing, or when that failed last time.

    Without the login that an address may have in it.
    """
    named, site = _target(row["icon_url"]), _target(row["site_url"]) or _target(row["url"])
    at_root = replace(site, path="/favicon.ico") if site else None
    places = [place.url for place in (named, at_root) if place]
    return places[row["attempts"] % len(places)] if places else str(row["url"])


def _target(url: str | None) -> Target | None:
    try:
        return parse(url or "")
    except Rejected:
        return None


def icon_in(outcome: Outcome) -> Picture | None:
    """The picture of an answer, if it is one that browsers show."""
    if not isinstance(outcome, Response):
        return None
    type = recognise(outcome.body)
    return Picture(type, outcome.body) if type and type is not HEIC else None


def missed(outcome: Outcome, row: Row, now: datetime) -> Miss:
    again_at = now + PAUSES[min(row["attempts"], len(PAUSES) - 1)]
    match outcome:
        case Deferred(until=until):
            return Miss(row["feed_id"], until, counted=False)
        case Throttled(until=until):
            return Miss(row["feed_id"], max(until, again_at))
    return Miss(row["feed_id"], again_at)
