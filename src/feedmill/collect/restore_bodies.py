"""Puts the raw bodies of a feed in time order and parses them again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from feedmill.archive.blobs import Blobs
from feedmill.collect.parsing.parse_off_loop import parse_off_loop
from feedmill.errors import BlobMissing, NotAFeed
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.store.archive.raw_bodies import StoredRawBody

NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """From `since` (inclusive) to `until` (exclusive); None leaves that side open."""

    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, at: datetime) -> bool:
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class BodyToRestore:
    """A raw body, the URL of its feed, and when the next body of the feed arrived."""

    body: StoredRawBody
    url: str
    next_at: datetime
    in_period: bool


def order_bodies(bodies: Sequence[StoredRawBody], urls: Mapping[int, str], period: Period) -> list[BodyToRestore]:
    """The bodies to restore, the oldest first; `urls` has the URL of each feed by id."""
    newest_first: list[BodyToRestore] = []
    next_at: dict[int, datetime] = {}
    for body in sorted(bodies, key=lambda body: body.at, reverse=True):
        newest_first.append(
            BodyToRestore(body, urls[body.feed_id], next_at.get(body.feed_id, NEVER), body.at in period)
        )
        next_at[body.feed_id] = body.at
    return newest_first[::-1]


async def current_bodies(blobs: Blobs, bodies: Sequence[BodyToRestore]) -> list[BodyToRestore]:
    """The bodies that say what is in the feed now: the newest complete one, and truncated ones after it.

    Empty if the newest one is outside of the period.
    """
    current: list[BodyToRestore] = []
    for each in reversed(bodies):
        if not each.in_period:
            break
        try:
            parsed = await parse_body(await blobs.get(each.body.key), each)
        except (BlobMissing, NotAFeed):
            continue
        current.append(each)
        if not parsed.is_truncated:
            break
    return current


async def parse_body(data: bytes, source: BodyToRestore) -> ParsedFeed:
    """Parses the body with today's parser; raises `NotAFeed`."""
    return await parse_off_loop(data, content_type=source.body.content_type, url=source.url)
