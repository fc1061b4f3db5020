"""Contents of pools name archived images by the public address of the archive, where there is one."""

from typing import Any

import pytest

from feedmill.model.pool import ContentFormat, PoolKind, PoolOptions
from feedmill.model.timestamps import to_iso
from feedmill.open_pools import open_pools
from feedmill.settings import load_settings
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.schema import image_tasks
from tests.pools.pool_rows import NOW, add_entries, add_pool

CDN = "https://images.example.org/mill"
HTML = '<p>{}</p><img src="/kept.png"><img src="https://example.org/waiting.png">'


async def archive(db: Database, entry_id: int) -> None:
    """The rows of two images, one of them archived."""
    [feed] = await all_feeds(db)
    at = to_iso(NOW)
    same: dict[str, Any] = {"feed_id": feed.id, "entry_id": entry_id, "created_at": at, "updated_at": at}
    rows = [
        same | {"position": 0, "original_url": "https://example.org/kept.png", "status": "success"},
        same | {"position": 1, "original_url": "https://example.org/waiting.png", "status": "pending"},
    ]
    rows[0]["object_key"], rows[1]["object_key"] = "images/1/0cc175b9/0.png", None
    await db.batch([Step(insert(image_tasks, *rows[0]), rows)])


@pytest.fixture
async def entry(db: Database) -> int:
    [entry_id] = await add_entries(db, ["a"], html=HTML)
    await archive(db, entry_id)
    return entry_id


async def contents(db: Database, base_url: str, form: ContentFormat = ContentFormat.HTML) -> str:
    """The contents of the only item, popped."""
    async with open_pools(load_settings(images_base_url=base_url), db) as pools:
        group = await add_pool(db, [], PoolOptions(form=form))
        await pools.gatherer.catch_up(NOW)
        [item] = await pools.pop(group.name, PoolKind.CONTENTS, 1)
    return item.text


async def test_an_archived_image_has_its_public_address_and_others_their_own(db: Database, entry: int) -> None:
    text = await contents(db, CDN)

    assert f'src="{CDN}/images/1/0cc175b9/0.png"' in text
    assert 'src="https://example.org/waiting.png"' in text
    assert "kept.png" not in text


async def test_without_a_public_address_images_keep_their_own(db: Database, entry: int) -> None:
    text = await contents(db, "")

    assert 'src="https://example.org/kept.png"' in text


async def test_plain_text_has_no_images(db: Database, entry: int) -> None:
    assert await contents(db, CDN, ContentFormat.TEXT) == "a"
