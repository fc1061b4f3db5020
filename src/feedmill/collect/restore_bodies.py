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
    """From `since` on and before `until`; None leaves that side open."""

    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, at: datetime) -> bool:
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class BodyToRestore:
    """A kept body, where it came from, and when the next body of its feed arrived."""

    body: StoredRawBody
    url: str
    next_at: datetime
    in_period: bool


def order_bodies(bodies: Sequence[StoredRawBody], urls: Mapping[int, str], period: Period) -> list[BodyToRestore]:
    """Bodies as backups, the oldest first; `urls` has where each feed of theirs is."""
    backups: list[BodyToRestore] = []
    next_at: dict[int, datetime] = {}
    for body in sorted(bodies, key=lambda body: body.at, reverse=True):
        backups.append(BodyToRestore(body, urls[body.feed_id], next_at.get(body.feed_id, NEVER), body.at in period))
        next_at[body.feed_id] = body.at
    return backups[::-1]


async def current_bodies(blobs: Blobs, backups: Sequence[BodyToRestore]) -> list[BodyToRestore]:
    """The backups that tell what is in the feed now: the newest complete one, and truncated ones after it.

    None if the newest of them is not among those to be replayed.
    """
    current: list[BodyToRestore] = []
    for backup in reversed(backups):
        if not backup.in_period:
            break
        try:
            parsed = await parse_body(await blobs.get(backup.body.key), backup)
        except (BlobMissing, NotAFeed):
            continue
        current.append(backup)
        if not parsed.is_truncated:
            break
    return current


async def parse_body(data: bytes, backup: BodyToRestore) -> ParsedFeed:
    """The body as today's parser reads it; raises `NotAFeed`."""
    return await parse_off_loop(data, content_type=backup.body.content_type, url=backup.url)
