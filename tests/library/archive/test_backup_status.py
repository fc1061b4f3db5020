"""The status of the last backup."""

from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.archive.backup.check import check_backup
from feedmill.archive.backup.create import create_backup
from feedmill.archive.backup.file_format import MANIFEST, Manifest
from feedmill.library.archive.backup_status import (
    WARNING_AGE,
    BackupStatus,
    last_backup,
    record_backup,
    record_backup_check,
)
from feedmill.store.admin.audit_log import audit_log_page
from tests.flows.refresh_environment import DAY, HOUR, RefreshEnvironment, answer, item


async def made(env: RefreshEnvironment, folder: Path) -> Manifest:
    manifest = await create_backup(env.db, env.blobs, folder, env.now, portable=True, with_objects=True)
    await record_backup(env.db, str(folder), manifest, env.now)
    return manifest


async def told(env: RefreshEnvironment) -> BackupStatus:
    found = await last_backup(env.db)
    assert found is not None
    return found


async def test_before_the_first_backup_there_is_no_status(env: RefreshEnvironment) -> None:
    assert await last_backup(env.db) is None


async def test_the_last_backup_is_reported_with_its_size_and_as_valid_only_after_a_check(
    env: RefreshEnvironment, tmp_path: Path
) -> None:
    await env.refresh(await env.add("/feed", answer(item("a"))))
    folder = tmp_path / "kept"
    await made(env, tmp_path / "older")
    env.now += HOUR
    await made(env, folder)

    found = await told(env)

    content = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    assert (found.folder, found.sound, found.checked_at) == (str(folder), None, None)
    assert found.size == sum(path.stat().st_size for path in content)
    assert not found.is_old(env.now + WARNING_AGE)
    assert found.is_old(env.now + WARNING_AGE + DAY)
    assert [deed.action for deed in await audit_log_page(env.db, 2**53 - 1, 5)] == ["backup.make", "backup.make"]


@pytest.mark.parametrize("damaged", [False, True])
async def test_a_check_of_the_last_backup_is_remembered(env: RefreshEnvironment, tmp_path: Path, damaged: bool) -> None:
    folder = tmp_path / "kept"
    await made(env, folder)
    if damaged:
        (folder / "objects.jsonl.gz").write_bytes(b"gone")

    await record_backup_check(env.db, *await check_backup(folder), env.now + timedelta(hours=1))

    found = await told(env)
    assert (found.sound, bool(found.wrong)) == (not damaged, damaged)
    assert found.checked_at is not None


async def test_a_check_of_an_older_backup_does_not_count_for_the_last_one(
    env: RefreshEnvironment, tmp_path: Path
) -> None:
    older = await made(env, tmp_path / "older")
    env.now += HOUR
    await made(env, tmp_path / "kept")

    await record_backup_check(env.db, older, [], env.now)

    assert (await told(env)).sound is None
