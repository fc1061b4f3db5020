"""A purge killed at any step leaves no dangling reference and loses no orphan, and the next run finishes it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from feedmill.archive.files import FolderBlobs
from feedmill.archive.object_keys import DESCRIPTORS_PREFIX, descriptor_key, image_key
from feedmill.archive.object_store_config import FolderConfig, S3Config
from feedmill.archive.orphans import record_orphans
from feedmill.archive.purge import RetentionPeriods, delete_garbage, lifecycle_rule, purge
from feedmill.archive.store_ownership import ensure_store_ownership
from feedmill.errors import CallerError
from feedmill.model.timestamps import to_iso
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.schema import entries, feeds, image_tasks, object_garbage, raw_bodies, tombstones
from tests.databases import emptied
from tests.flows.conftest import open_environment
from tests.flows.deployments import ArchiveEnvironment
from tests.flows.refresh_environment import HOUR, answer, item

LONG = timedelta(days=200)
OLD = 20


@pytest.fixture
async def prepared(request: pytest.FixtureRequest, tmp_path: Path) -> ArchiveEnvironment:
    """An environment with expired entries, images and raw bodies, and an orphan; its database is closed."""
    folder = tmp_path / "prepared"
    folder.mkdir()
    async with emptied(request, "sqlite", folder) as db, open_environment(db, folder) as small:
        env = ArchiveEnvironment(db, FolderBlobs(folder / "objects"), small.client, small.web)
        feed = await env.add("/feed", answer(item("stays"), *(item(f"old {number}") for number in range(OLD))))
        await env.refresh(feed)
        await env.later(HOUR, feed, answer(item("stays")))
        await ensure_store_ownership(db, env.blobs)
        for row in await env.rows(entries):
            await add_image(env, row["id"], feed.id, row["guid"])
        await env.blobs.put(image_key(feed.id, "lost", 0, "png"), b"x", "image/png")
        for path in (folder / "objects").rglob("*.*"):
            os.utime(path, (env.now.timestamp(), env.now.timestamp()))
        env.now += LONG
    return env


async def add_image(env: ArchiveEnvironment, entry_id: int, feed_id: int, guid: str) -> None:
    key, at = image_key(feed_id, guid, 0, "png"), to_iso(env.now)
    await env.blobs.put(key, b"x", "image/png")
    await env.put(
        image_tasks,
        feed_id=feed_id,
        entry_id=entry_id,
        position=0,
        original_url="u",
        status="success",
        object_key=key,
        created_at=at,
        updated_at=at,
    )


@pytest.mark.external
async def test_killed_at_every_step_it_finishes_the_next_time(prepared: ArchiveEnvironment, tmp_path: Path) -> None:
    step, died = 0, True
    while died:
        folder = tmp_path / str(step)
        shutil.copytree(tmp_path / "prepared", folder)

        died = run_and_kill(folder, prepared, step)

        await check(folder)
        await finish(folder, prepared)
        await check_end(folder)
        step += 1
    assert step > 10, "too few steps to have met them all"


def run_and_kill(folder: Path, env: ArchiveEnvironment, step: int) -> bool:
    """Whether it died, as it should unless the work has fewer steps than that."""
    command = [sys.executable, "-m", "tests.archive.killed_purge", str(folder), env.now.isoformat(), str(step)]
    root = Path(__file__).parents[2]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    done = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


async def finish(folder: Path, env: ArchiveEnvironment) -> None:
    db, blobs = SqliteDatabase(folder / "feedmill.db"), FolderBlobs(folder / "objects")
    await purge(db, blobs, RetentionPeriods(), env.now)
    await record_orphans(db, blobs, RetentionPeriods().raw, env.now)
    await delete_garbage(db, blobs)
    await db.close()


async def check(folder: Path) -> None:
    """No row speaks of an object that is gone, no object is forgotten, and counts and tombstones are right."""
    db, blobs = SqliteDatabase(folder / "feedmill.db"), FolderBlobs(folder / "objects")
    stored = {
        blob.key async for blob in blobs.list_keys("") if not blob.key.startswith(("feedmill/", DESCRIPTORS_PREFIX))
    }
    images = {row["object_key"] for row in await db.query(select(image_tasks.c.object_key))}
    bodies = {row["key"] for row in await db.query(select(raw_bodies.c.key))}
    garbage = {row["key"] for row in await db.query(select(object_garbage.c.key))}
    [count] = await db.query(select(feeds.c.entry_count))
    [here] = await db.query(select(func.count().label("entries")).select_from(entries))
    [buried] = await db.query(select(func.count().label("entries")).select_from(tombstones))
    await db.close()
    lost = image_key(1, "lost", 0, "png")
    assert images | bodies <= stored
    assert stored - images - bodies - garbage <= {lost}
    assert count["entry_count"] == here["entries"] == OLD + 1 - buried["entries"]


async def check_end(folder: Path) -> None:
    db, blobs = SqliteDatabase(folder / "feedmill.db"), FolderBlobs(folder / "objects")
    [left] = await db.query(select(entries.c.title, image_tasks.c.object_key).join(image_tasks))
    assert left["title"] == "stays"
    stored = sorted([blob.key async for blob in blobs.list_keys("")])
    assert stored == ["feedmill/owner.txt", descriptor_key(1), left["object_key"]]
    assert await db.query(select(object_garbage)) == []
    await db.close()


def test_the_lifecycle_rule_ends_raw_bodies_alone_and_after_our_rows() -> None:
    rule = lifecycle_rule(S3Config("bucket", prefix="mill"), 30)

    [only] = json.loads(json.dumps(rule))["Rules"]
    assert (only["Filter"], only["Expiration"], only["Status"]) == (
        {"Prefix": "mill/backups/"},
        {"Days": 31},
        "Enabled",
    )


def test_a_folder_takes_no_lifecycle_rule(tmp_path: Path) -> None:
    with pytest.raises(CallerError, match=str(tmp_path)):
        lifecycle_rule(FolderConfig(tmp_path), 30)
