"""Brings the database in line with the feeds file.

New ones are added and due at once; those that are gone from the file keep their history and rest; those that
come back wake. A file that is not sound in every part changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from feedmill.collect.declared.config_file import BadFile
from feedmill.collect.declared.feeds_file import Declaration, find_feeds_file, read_declarations
from feedmill.collect.declared.file_paths import feeds_files
from feedmill.collect.scheduling.cadence import SHORTEST_INTERVAL
from feedmill.encryption import NO_ENCRYPTION, Encryption, UnreadableSecret
from feedmill.errors import BadSetting
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Feed
from feedmill.outbound.fetch_options import encrypt_options
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.declared import DeclaredChanges, DeclaredOptions, apply_declared_changes
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.feeds.url_history import all_former_urls

log = get_logger(__name__)

# Path, time of change, size and number of each file that could be the one.
FileSignatures = tuple[tuple[Path, int, int, int], ...]


@dataclass(slots=True)
class DeclaredFeeds:
    """Follows the file; `follow` costs one look at the file's times as long as it stays the same."""

    db: Database
    named: Path | None
    data: Path
    floor: timedelta = SHORTEST_INTERVAL
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    encryption: Encryption = NO_ENCRYPTION
    _seen: FileSignatures | None = None

    async def follow(self) -> None:
        """Brings the database in line with the file if that has changed; the log tells what came of it."""
        sight = self._look()
        if sight == self._seen:
            return
        try:
            await self._obey(find_feeds_file(self.named, self.data))
        except (BadFile, BadSetting, UnreadableSecret) as error:
            log.error("feeds_file_invalid", reason=str(error))
        self._seen = sight

    def _look(self) -> FileSignatures:
        return tuple(_signature(file) for file in feeds_files(self.named, self.data))

    async def _obey(self, file: Path | None) -> None:
        if file is None:
            if self._seen:
                log.warning("feeds_file_missing", file=str(self._seen[0][0]))
            return
        declared, now = read_declarations(file), self.clock()
        comparison = compare_feeds(
            declared, await all_feeds(self.db), await all_former_urls(self.db), self.floor, now, self.encryption
        )
        await apply_declared_changes(self.db, comparison, file.name, now)
        if comparison:
            counts = {name: len(getattr(comparison, name)) for name in ("new", "changed", "returned", "dropped")}
            log.info("feeds_file_applied", file=str(file), **counts)


def compare_feeds(
    declared: Sequence[Declaration],
    feeds: Sequence[Feed],
    former: Mapping[str, int],
    floor: timedelta,
    now: datetime,
    encryption: Encryption = NO_ENCRYPTION,
) -> DeclaredChanges:
    """What has to change in the database; `former` tells which feed was at a URL that it moved away from."""
    meant = _matched_feeds(declared, feeds, former)
    known = [(wish, feed) for wish, feed in meant if feed is not None]
    wanted = {feed.id for _, feed in known}
    return DeclaredChanges(
        new=tuple(_new(wish, encryption) for wish, feed in meant if feed is None),
        returned=tuple(feed.id for _, feed in known if not feed.declared),
        dropped=tuple(feed.id for feed in feeds if feed.declared and feed.id not in wanted),
        changed=tuple(_options(wish, feed, floor, now) for wish, feed in known if _differs(wish, feed)),
    )


def _matched_feeds(
    declared: Sequence[Declaration], feeds: Sequence[Feed], former: Mapping[str, int]
) -> list[tuple[Declaration, Feed | None]]:
    """Each declaration with the feed that it means, also when that has moved; a feed is meant once."""
    by_id = {feed.id: feed for feed in feeds}
    by_url = {feed.url: feed for feed in feeds}
    meant: dict[int | str, tuple[Declaration, Feed | None]] = {}
    for wish in declared:
        url = wish.address.url
        feed = by_url.get(url) or by_id.get(former.get(url, 0))
        if feed is not None and feed.merged_into is not None:
            feed = by_id.get(feed.merged_into, feed)
        meant.setdefault(url if feed is None else feed.id, (wish, feed))
    return list(meant.values())


def _new(wish: Declaration, encryption: Encryption) -> NewFeed:
    return NewFeed(
        wish.address.url,
        own_title=wish.title,
        folder=wish.folder,
        archive_policy=wish.archive_policy,
        http_options=encrypt_options(encryption, wish.address.http_options),
        interval=wish.interval,
        declared=True,
    )


def _differs(wish: Declaration, feed: Feed) -> bool:
    if feed.added_by_person:
        return False
    asked = (wish.title, wish.folder, wish.interval, wish.archive_policy)
    return asked != (feed.own_title, feed.folder, feed.interval, feed.archive_policy)


def _options(wish: Declaration, feed: Feed, floor: timedelta, now: datetime) -> DeclaredOptions:
    sooner = _sooner(wish, feed, floor, now)
    return DeclaredOptions(feed.id, wish.title, wish.folder, wish.interval, wish.archive_policy, sooner)


def _sooner(wish: Declaration, feed: Feed, floor: timedelta, now: datetime) -> datetime | None:
    """A shorter interval counts at once; not for a feed that is backing off or was never fetched."""
    if wish.interval is None or wish.interval == feed.interval or feed.consecutive_failures or not feed.last_fetched_at:
        return None
    return max(feed.last_fetched_at + max(wish.interval, floor), now)


def _signature(file: Path) -> tuple[Path, int, int, int]:
    facts = file.stat()
    return file, facts.st_mtime_ns, facts.st_size, facts.st_ino
