"""An installation that has been running for some weeks, for the screenshots."""

import math
import struct
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

from feedmill.archive.images.download import archive_images
from feedmill.archive.images.file_types import PNG
from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.library.users.manage_users import make_user
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.image import DownloadedImage
from feedmill.model.pool import PoolRule
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.entries.labels import add_label
from feedmill.store.feeds.icons import add_icon_tasks, release_icon_tasks, save_icon, take_icon_tasks
from feedmill.store.schema import feeds, fetch_log
from feedmill.store.search.saved_searches import save_search
from tests.browser import sample_feeds
from tests.scripted_web import Answer
from tests.serve.rest.site import Site

DAYS = 14
SHADES = 16
# By feed the colour of its icon; the others have none.
ICONS = {1: (166, 98, 38), 2: (28, 28, 34), 5: (38, 116, 166)}
PAGE = (
    b"<html><head><title>A field guide to water wheels</title>"
    b"<meta name=description content='Overshot, undershot, breastshot: how to tell them apart.'></head></html>"
)


async def prepare(site: Site) -> None:
    """Alice reads, stars and labels; feeds have been fetched for days, one is failing; a pool is being emptied."""
    await sample_feeds.prepare(site)
    site.web.serve("/wheel.png", Answer(picture(480, 270), headers={"Content-Type": "image/png"}))
    await archive_images(site.app.images)
    alice, now, db = await sample_feeds.find_user(site), datetime.now(UTC), site.app.db
    wood, water = [(await add_label(db, alice.id, name)).id for name in ("Wood 木", "Water")]
    for entry_id, marks in {
        1: EntryMarks(starred=True, add_labels=(wood, water)),
        2: EntryMarks(add_labels=(wood,)),
        3: EntryMarks(read=True),
        6: EntryMarks(later=True),
        8: EntryMarks(read=True),
        10: EntryMarks(starred=True),
        13: EntryMarks(read=True),
    }.items():
        await apply_marks_to_entry(db, alice.id, entry_id, marks, now)
    await save_search(db, alice.id, "Wheels", "wheel OR 水轮")
    await make_user(db, "bob", sample_feeds.PASSWORD, False, now, Actor())
    await site.app.bookmarks.save(alice.id, site.web.serve("/guide", Answer(PAGE)), None, "Drawings on page 3")
    await site.app.bookmarks.save(alice.id, site.web.url("/nowhere"), None, None)
    await site.app.bookmarks.read_pages()
    await _have_fetched(site, now)
    await _have_icons(site, now)
    group = await site.app.pools.create("Mills", PoolRule())
    await site.app.pools.fill(group.id)


async def _have_fetched(site: Site, now: datetime) -> None:
    """A fetch log for the first feeds; the third one is failing."""
    hours = range(DAYS * 24, 0, -4)
    lines = [_fetch(feed_id, now - timedelta(hours=ago), ago + feed_id) for feed_id in (1, 2, 3) for ago in hours]
    error = "HTTP 404 Not Found"
    failing = {"consecutive_failures": 4, "last_error": error}
    lines += [_line(3, now - timedelta(minutes=30 * n), "http_4xx", 404, 512, 90, 0, error) for n in range(4)]
    await site.app.db.batch(
        [
            Step(insert(fetch_log, *lines[0]), lines),
            Step(feeds.update().where(feeds.c.id == 3).values(**failing)),
        ]
    )


async def _have_icons(site: Site, now: datetime) -> None:
    db, address, later = site.app.db, "https://example.org/favicon.ico", now + timedelta(days=30)
    await add_icon_tasks(db, now, 100)
    token, _ = await take_icon_tasks(db, now, most=100)
    for feed_id, colour in ICONS.items():
        await save_icon(db, [feed_id], token, address, DownloadedImage(PNG, disc(colour)), now, later)
    await release_icon_tasks(db, token, later)


def _fetch(feed_id: int, at: datetime, turn: int) -> dict[str, Any]:
    """One of several fetches, by turns new, nothing new, slow or failing."""
    if turn % 17 == 0:
        return _line(feed_id, at, "http_5xx", 503, 0, 4000, 0, "HTTP 503 Service Unavailable")
    if turn % 5 == 0:
        return _line(feed_id, at, "updated", 200, 48_000 + turn * 31, 300 + turn % 7 * 60, 1 + turn % 3)
    return _line(feed_id, at, "not_modified", 304, 300, 80 + turn % 11 * 12, 0)


def _line(
    feed_id: int, at: datetime, outcome: str, status: int, size: int, ms: int, new: int, message: str | None = None
) -> dict[str, Any]:
    return {
        "feed_id": feed_id,
        "at": to_iso(at),
        "outcome": outcome,
        "http_status": status,
        "bytes": size,
        "ms": ms,
        "new_entries": new,
        "revised_entries": 0,
        "message": message,
    }


def picture(width: int, height: int) -> bytes:
    """A wheel in the evening, as a PNG."""
    rows = b"".join(b"\0" + bytes(_colour(x / width, y / height) for x in range(width)) for y in range(height))
    palette = bytes(channel for step in range(SHADES) for channel in _shade(step / (SHADES - 1)))
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", palette),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        ]
    )


def disc(colour: tuple[int, int, int], size: int = 32) -> bytes:
    """A disc of one colour on nothing, as a PNG."""
    inside = [[math.hypot(x - size / 2 + 0.5, y - size / 2 + 0.5) < size / 2 for x in range(size)] for y in range(size)]
    rows = b"".join(b"\0" + b"".join(bytes((*colour, 255 * dot)) for dot in row) for row in inside)
    head = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    parts = _chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _shade(part: float) -> tuple[int, int, int]:
    return int(40 + 200 * part), int(60 + 150 * part), int(90 + 90 * part)


def _colour(x: float, y: float) -> int:
    """Which of the shades: a sky, water below it, and a wheel with eight spokes."""
    away = math.hypot((x - 0.62) * 16 / 9, y - 0.52)
    angle = math.atan2(y - 0.52, (x - 0.62) * 16 / 9)
    if 0.3 < away < 0.35 or away < 0.05 or (away < 0.33 and abs(math.sin(angle * 4)) < 0.02 / max(away, 0.05)):
        return 1
    return int(14 - 8 * y) if y < 0.72 else int(5 - 4 * (y - 0.72))
