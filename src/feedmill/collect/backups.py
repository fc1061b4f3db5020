"""Kept bodies in the order in which they arrived, read and understood by today's parser."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from feedmill.archive.blobs import Blobs
from feedmill.collect.parse import parse
from feedmill.errors import BlobMissing, NotAFeed
from feedmill.model.parsed import ParsedFeed
from feedmill.store.raw import KeptBody

NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """From `since` on and before `until`; None leaves that side open."""

    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, at: datetime) -> bool:
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class Backup:
    """A kept body, where it came from, and when the next body of its feed arrived."""

    body: KeptBody
    url: str
    next_at: datetime
    in_period: bool


def in_order(bodies: Sequence[KeptBody], urls: Mapping[int, str], period: Period) -> list[Backup]:
    """Bodies as backups, the oldest first; `urls` has where each feed of theirs is."""
    backups: list[Backup] = []
    next_at: dict[int, datetime] = {}
    for body in sorted(bodies, key=lambda body: body.at, reverse=True):
        backups.append(Backup(body, urls[body.feed_id], next_at.get(body.feed_id, NEVER), body.at in period))
        next_at[body.feed_id] = body.at
    return backups[::-1]


async def newest_readable(blobs: Blobs, feed_id: int, backups: Sequence[Backup]) -> Backup | None:
    """The backup that tells what is in the feed now; None if that is not among those to be replayed."""
    for backup in reversed(backups):
        if backup.body.feed_id != feed_id:
            continue
        if not backup.in_period:
            return None
        try:
            await understand(await blobs.get(backup.body.key), backup)
        except (BlobMissing, NotAFeed):
            continue
        return backup
    return None


async def understand(data: bytes, backup: Backup) -> ParsedFeed:
    """The body as today's parser reads it; raises `NotAFeed`."""
    return await asyncio.to_thread(parse, data, content_type=backup.body.content_type, url=backup.url)
