"""Feeds are recovered with the ids that they had before."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.store.archive.recover_feeds import ArchivedFeed, recover_feeds
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.migrations import migrate
from tests.databases import blank

NOW = datetime(2026, 2, 18, tzinfo=UTC)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql", "mariadb", "d1"])
async def test_feeds_get_their_old_ids_and_new_feeds_get_higher_ones(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    async with blank(request, kind, tmp_path) as connect:
        db = connect()
        await migrate(db)

        ids = await recover_feeds(db, [ArchivedFeed(id, f"https://example.org/{id}", None) for id in (1, 2, 7)], NOW)
        new = await add_feed(db, "https://example.org/new", NOW)
        again = await recover_feeds(
            db, [ArchivedFeed(9, "https://example.org/2", None), ArchivedFeed(1, "https://example.org/x", None)], NOW
        )

        assert ids == {1: 1, 2: 2, 7: 7}
        assert new.id > 7
        # A feed that exists keeps its id; one whose id is taken gets another.
        assert again[9] == 2
        assert again[1] > new.id
        assert len(await all_feeds(db)) == 5
        await db.close()
