"""Stored bodies in order of time, and which one is the current content of the feed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill.archive.files import FolderBlobs
from feedmill.collect.restore_bodies import NEVER, Period, current_bodies, order_bodies
from feedmill.store.archive.raw_bodies import StoredRawBody

NOON = datetime(2026, 2, 18, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
URLS = {1: "https://example.org/one", 2: "https://example.org/two"}
ALWAYS = Period()
FEED = b"<rss version='2.0'><channel><title>t</title></channel></rss>"
NO_FEED = b"<html>sorry</html>"
TRUNCATED = FEED.removesuffix(b"</rss>")


def body(hours: int, feed_id: int = 1) -> StoredRawBody:
    return StoredRawBody(feed_id, f"backups/{feed_id}/{hours}", NOON + hours * HOUR, 1)


@pytest.mark.parametrize(
    ("since", "until", "inside"),
    [
        (None, None, True),
        (NOON, None, True),
        (NOON + HOUR, None, False),
        (None, NOON, False),
        (None, NOON + HOUR, True),
        (NOON - HOUR, NOON, False),
    ],
)
def test_a_period_includes_its_start_and_excludes_its_end(
    since: datetime | None, until: datetime | None, inside: bool
) -> None:
    assert (NOON in Period(since, until)) is inside


def test_bodies_are_replayed_oldest_first_and_know_the_next_of_their_feed() -> None:
    backups = order_bodies([body(3), body(1), body(2, feed_id=2), body(0)], URLS, ALWAYS)

    assert [(one.body.at, one.url, one.next_at) for one in backups] == [
        (NOON, URLS[1], NOON + HOUR),
        (NOON + HOUR, URLS[1], NOON + 3 * HOUR),
        (NOON + 2 * HOUR, URLS[2], NEVER),
        (NOON + 3 * HOUR, URLS[1], NEVER),
    ]


@pytest.mark.parametrize(
    ("bodies", "until", "current"),
    [
        ({0: FEED, 1: FEED}, None, [1]),
        ({0: FEED, 1: NO_FEED}, None, [0]),
        ({0: NO_FEED, 1: NO_FEED}, None, []),
        ({0: FEED, 1: None}, None, [0]),
        # What a truncated body lacks may still be in the feed.
        ({0: FEED, 1: FEED, 2: TRUNCATED, 3: TRUNCATED}, None, [3, 2, 1]),
        # The current content of the feed is outside the period that is replayed.
        ({0: FEED, 1: FEED}, NOON + HOUR, []),
    ],
)
async def test_the_newest_body_that_is_a_feed_is_the_current_content(
    tmp_path: Path, bodies: dict[int, bytes | None], until: datetime | None, current: list[int]
) -> None:
    blobs = FolderBlobs(tmp_path)
    for hours, data in bodies.items():
        if data is not None:
            await blobs.put(body(hours).key, data, "application/xml")
    backups = order_bodies([*map(body, bodies)], URLS, Period(until=until))

    found = await current_bodies(blobs, backups)

    assert [one.body.key for one in found] == [body(hours).key for hours in current]
