"""Independent steps of a batch are one statement on PostgreSQL, with the same result."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql.asyncpg import dialect as asyncpg_dialect

from feedmill.errors import ConstraintViolated
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import Compiler, independent, insert
from feedmill.store.drivers.postgres_merged_steps import merge_steps
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import feeds, fetch_log
from tests.databases import emptied

NOW = datetime(2026, 3, 9, tzinfo=UTC)
RENAME = independent(feeds.update().where(feeds.c.id == bindparam("feed_id")).values(title=bindparam("title")))
LOG = independent(insert(fetch_log, "feed_id", "at", "outcome"))
COMPILER = Compiler(asyncpg_dialect())  # type: ignore[no-untyped-call]


@pytest.fixture
async def db(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, "postgresql", tmp_path) as database:
        yield database


def steps(feed_id: int, title: str, log_feed_id: int | None = None) -> list[Step]:
    line = {"feed_id": log_feed_id or feed_id, "at": to_iso(NOW), "outcome": "updated"}
    return [Step(RENAME, {"feed_id": feed_id, "title": title}), Step(LOG, line)]


async def test_all_steps_are_done_and_counted(db: Database) -> None:
    feed = await add_feed(db, "https://example.org/", NOW)

    assert merge_steps(steps(feed.id, "first"), COMPILER) is not None
    assert await db.batch(steps(feed.id, "first")) == [1, 1]
    assert await db.batch(list(reversed(steps(feed.id, "second")))) == [1, 1]

    assert await column(db, feeds.c.title) == ["second"]
    assert await column(db, fetch_log.c.feed_id) == [feed.id] * 2


async def test_nothing_is_done_if_a_step_fails(db: Database) -> None:
    feed = await add_feed(db, "https://example.org/", NOW)

    with pytest.raises(ConstraintViolated):
        await db.batch(steps(feed.id, "lost", log_feed_id=feed.id + 1))

    assert await column(db, feeds.c.title) == [None]


async def test_a_step_that_changes_no_row_counts_none(db: Database) -> None:
    feed = await add_feed(db, "https://example.org/", NOW)

    assert await db.batch(steps(feed.id + 1, "nobody", log_feed_id=feed.id)) == [0, 1]


def test_other_steps_stay_by_themselves() -> None:
    rename, log = steps(1, "title")
    plain = Step(insert(fetch_log, "feed_id", "at", "outcome"), log.params)

    assert merge_steps([rename], COMPILER) is None
    assert merge_steps([rename, rename], COMPILER) is None
    assert merge_steps([rename, plain], COMPILER) is None
    assert merge_steps([rename, Step(LOG, [log.params, log.params])], COMPILER) is None  # type: ignore[list-item]


async def column(db: Database, wanted: Any) -> list[Any]:
    return [row[wanted.name] for row in await db.query(select(wanted))]
