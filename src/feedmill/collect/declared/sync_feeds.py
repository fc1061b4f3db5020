"""Applies the feeds file to the database.

New feeds are added and due at once. Feeds that left the file keep their history and are no longer fetched; those that
come back are due again. A file that is not valid in every part changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from feedmill.collect.declared.feeds_file import Declaration, find_feeds_file, read_declarations
from feedmill.collect.declared.feeds_file_paths import feeds_file_pattern, feeds_files
from feedmill.collect.declared.read_data_file import BadDataFile
from feedmill.collect.scheduling.cadence import SHORTEST_INTERVAL
from feedmill.encryption import NO_ENCRYPTION, Encryption, UnreadableSecret
from feedmill.errors import BadSetting
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Feed
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.declared_feeds import (
    DeclaredChanges,
    DeclaredOptions,
    apply_declared_changes,
    count_declared_feeds,
)
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.feeds.url_history import all_former_urls

log = get_logger(__name__)

# Path, modification time, size and inode of each feeds file.
FileSignatures = tuple[tuple[Path, int, int, int], ...]


@dataclass(slots=True)
class DeclaredFeeds:
    """Follows the feeds file. While the file is unchanged, `follow` only reads its modification time."""

    db: Database
    named: Path | None
    data: Path
    floor: timedelta = SHORTEST_INTERVAL
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    encryption: Encryption = NO_ENCRYPTION
    _applied: FileSignatures | None = None

    async def follow(self) -> None:
        """Applies the file if it has changed, and logs the result or why it is not valid."""
        signatures = self._signatures()
        if signatures == self._applied:
            return
        try:
            await self._apply(find_feeds_file(self.named, self.data))
        except (BadDataFile, BadSetting, UnreadableSecret) as error:
            log.error("feeds_file_invalid", reason=str(error))
        self._applied = signatures

    def _signatures(self) -> FileSignatures:
        return tuple(_signature(file) for file in feeds_files(self.named, self.data))

    async def _apply(self, file: Path | None) -> None:
        if file is None:
            await self._report_missing()
            return
        declared, now = read_declarations(file), self.clock()
        comparison = compare_feeds(
            declared, await all_feeds(self.db), await all_former_urls(self.db), self.floor, now, self.encryption
        )
        await apply_declared_changes(self.db, comparison, file.name, now)
        if comparison:
            counts = {name: len(getattr(comparison, name)) for name in ("new", "changed", "returned", "dropped")}
            log.info("feeds_file_applied", file=str(file), **counts)

    async def _report_missing(self) -> None:
        """Warns of a file that was there before, also before the last restart: its feeds are marked as declared."""
        count = await count_declared_feeds(self.db)
        if count or self._applied:
            file = self._applied[0][0] if self._applied else feeds_file_pattern(self.data)
            log.warning("feeds_file_missing", file=str(file), declared_feeds=count)


def compare_feeds(
    declared: Sequence[Declaration],
    feeds: Sequence[Feed],
    former: Mapping[str, int],
    floor: timedelta,
    now: datetime,
    encryption: Encryption = NO_ENCRYPTION,
) -> DeclaredChanges:
    """The changes to make in the database. `former` has the feed ids by URLs that they have moved away from."""
    matched = _matched_feeds(declared, feeds, former)
    known = [(declaration, feed) for declaration, feed in matched if feed is not None]
    declared_ids = {feed.id for _, feed in known}
    return DeclaredChanges(
        new=tuple(_new(declaration, encryption) for declaration, feed in matched if feed is None),
        returned=tuple(feed.id for _, feed in known if not feed.declared),
        dropped=tuple(feed.id for feed in feeds if feed.declared and feed.id not in declared_ids),
        changed=tuple(
            _options(declaration, feed, floor, now) for declaration, feed in known if _differs(declaration, feed)
        ),
    )


def _matched_feeds(
    declared: Sequence[Declaration], feeds: Sequence[Feed], former: Mapping[str, int]
) -> list[tuple[Declaration, Feed | None]]:
    """Each declaration with its feed, even if that has moved; None if there is none. No feed is matched twice."""
    by_id = {feed.id: feed for feed in feeds}
    by_url = {feed.url: feed for feed in feeds}
    matched: dict[int | str, tuple[Declaration, Feed | None]] = {}
    for declaration in declared:
        url = declaration.address.url
        feed = by_url.get(url) or by_id.get(former.get(url, 0))
        if feed is not None and feed.merged_into is not None:
            feed = by_id.get(feed.merged_into, feed)
        matched.setdefault(url if feed is None else feed.id, (declaration, feed))
    return list(matched.values())


def _new(declaration: Declaration, encryption: Encryption) -> NewFeed:
    return NewFeed(
        declaration.address.url,
        own_title=declaration.title,
        folder=declaration.folder,
        archive_policy=declaration.archive_policy,
        http_options=encrypt_options(encryption, declaration.address.http_options),
        interval=declaration.interval,
        declared=True,
    )


def _differs(declaration: Declaration, feed: Feed) -> bool:
    if feed.added_by_person:
        return False
    declared = (declaration.title, declaration.folder, declaration.interval, declaration.archive_policy)
    return declared != (feed.own_title, feed.folder, feed.interval, feed.archive_policy)


def _options(declaration: Declaration, feed: Feed, floor: timedelta, now: datetime) -> DeclaredOptions:
    due_at = _due_by_new_interval(declaration, feed, floor, now)
    return DeclaredOptions(
        feed.id, declaration.title, declaration.folder, declaration.interval, declaration.archive_policy, due_at
    )


def _due_by_new_interval(declaration: Declaration, feed: Feed, floor: timedelta, now: datetime) -> datetime | None:
    """When a feed with a new interval is due; None if it is backing off or was never fetched."""
    if (
        declaration.interval is None
        or declaration.interval == feed.interval
        or feed.consecutive_failures
        or not feed.last_fetched_at
    ):
        return None
    return max(feed.last_fetched_at + max(declaration.interval, floor), now)


def _signature(file: Path) -> tuple[Path, int, int, int]:
    status = file.stat()
    return file, status.st_mtime_ns, status.st_size, status.st_ino
