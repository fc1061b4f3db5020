"""The numbers and the names of columns that the design documents give, as `docs/seeds.md` says that we have them."""

from dataclasses import fields
from datetime import timedelta

import pytest
from sqlalchemy import UniqueConstraint

from feedmill.archive import orphans, s3
from feedmill.archive.images import judge_download
from feedmill.collect import fetch
from feedmill.collect.refresh import RefreshTools
from feedmill.coordination import locks, pool_queues
from feedmill.engine import celery_app, celery_tasks, in_process
from feedmill.model.feed import ERROR_AFTER, FeedStatus
from feedmill.model.pool import PoolItemState, PoolOptions
from feedmill.outbound import host_pacing
from feedmill.pools import fill, maintain
from feedmill.run import scheduler
from feedmill.settings import Settings
from feedmill.store.schema import metadata

SETTINGS = Settings()
SOFT_LIMIT = next(field.default for field in fields(RefreshTools) if field.name == "soft_limit")
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("ours", "chosen"),
    [
        (scheduler.SCAN_EVERY, 30 * SECOND),
        (celery_app.SCAN_EVERY, MINUTE),
        (SETTINGS.fetches_at_once, 20),
        (SETTINGS.images_at_once, 5),
        (ERROR_AFTER, 10),
        (timedelta(minutes=SETTINGS.backoff_base), 30 * MINUTE),
        (timedelta(minutes=SETTINGS.backoff_cap), 24 * HOUR),
        (fetch.QUICK_TRIES, 3),
        (celery_tasks.MAX_RETRIES, 3),
        ((fetch.FIRST_DELAY, fetch.LONGEST_DELAY), (2 * SECOND, MINUTE)),
        ((SOFT_LIMIT, in_process.HARD_LIMIT), (90 * SECOND, 120 * SECOND)),
        (celery_app.RESULT_EXPIRY, 24 * HOUR),
        (locks.LOCK_LENGTH, 180 * SECOND),
        (host_pacing.GAP, SECOND),
        (judge_download.MAX_ATTEMPTS, 3),
        (SETTINGS.retention_days, 180),
        (SETTINGS.raw_days, 30),
        ((s3.CHUNK_SIZE, orphans.CHUNK_SIZE), (1000, 1000)),
        ((PoolOptions().size, PoolOptions().refill_below), (5000, 1000)),
        (fill.CHUNK_SIZE, 500),
        (maintain.MAINTAIN_EVERY, 5 * SECOND),
        (pool_queues.FILL_LOCK_LENGTH, MINUTE),
        ((PoolItemState.AVAILABLE, PoolItemState.USED), (1, 0)),
        ({status.value for status in FeedStatus}, {"active", "error", "disabled"}),
    ],
)
def test_a_number_is_that_of_the_page(ours: object, chosen: object) -> None:
    assert ours == chosen


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("feeds", "id url title status consecutive_failures last_error last_fetched_at last_entry_at"),
        ("feeds", "next_fetch_at last_success_at etag last_modified description site_url language icon_url created_at"),
        ("entries", "id feed_id guid link title author summary content_html published_at first_seen_at"),
        ("image_tasks", "id entry_id original_url object_key status attempts last_error created_at updated_at"),
        ("pool_items", "id group_id batch_id status"),
    ],
)
def test_a_column_of_the_documents_is_there_under_its_name_on_the_page(table: str, names: str) -> None:
    assert set(names.split()) - set(metadata.tables[table].columns.keys()) == set()


@pytest.mark.parametrize(("table", "columns"), [("feeds", ["url"]), ("entries", ["feed_id", "guid"])])
def test_what_the_documents_call_unique_is(table: str, columns: list[str]) -> None:
    made = metadata.tables[table]
    unique = [[column.name for column in index.columns] for index in made.indexes if index.unique]
    unique += [[each.name for each in key.columns] for key in made.constraints if isinstance(key, UniqueConstraint)]
    unique += [[column.name] for column in made.columns if column.unique]

    assert columns in unique
