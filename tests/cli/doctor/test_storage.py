"""Findings about the data folder, its disk and the object store."""

import os
from getpass import getuser
from pathlib import Path

import pytest

from feedmill.archive.store_ownership import OWNER_KEY
from feedmill.cli.doctor import object_store, storage
from feedmill.cli.doctor.diagnose import diagnose
from feedmill.cli.doctor.storage import file_system_of, folders_to_fill, judge_file_system
from feedmill.cli.startup.data_permissions import permission_fix, readable_by_others
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.schema import image_tasks
from tests.cli.doctor.findings_of import NOW, assert_is_written, findings_of, insert, is_error, is_warning
from tests.cli.other_user import forbidden
from tests.cli.tmpfs import make_read_only, make_writable, small_disk
from tests.pools.pool_rows import add_entries

MOUNTS = """\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:26 / /srv rw shared:5 - xfs /dev/sdb1 rw
31 30 0:40 / /srv/my\\040share rw,relatime shared:7 - nfs4 nas:/volume1 rw
40 22 0:50 / /mnt/box rw - cifs //box/share rw
a line that is no mount
"""


async def test_a_private_folder_on_a_disk_with_space_is_fine(settings: Settings, db: Database) -> None:
    found = await findings_of(settings)

    assert {"data_ok", "disk_ok", "private_data_ok", "objects_new"} <= found.keys()


async def test_a_folder_that_is_not_there_yet_is_fine(settings: Settings) -> None:
    assert {"data_new", "objects_new", "database_new"} <= (await findings_of(settings)).keys()


async def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").touch()

    found = await findings_of(Settings(data=tmp_path / "data"))

    assert is_error(found, "data_not_a_folder", "--data")


@pytest.mark.external
async def test_a_disk_that_is_read_only_or_nearly_full_is_an_error(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        (disk / "data").mkdir()
        make_read_only(disk)
        found = await findings_of(Settings(data=disk / "data"))
        make_writable(disk)

    assert is_error(found, "data_not_writable", "remount")
    assert is_error(found, "disk_nearly_full", "8.4 MB", "feedmill purge")


async def test_a_folder_of_another_user_is_an_error(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage.os, "access", lambda path, mode: False)

    found = await findings_of(settings)

    assert is_error(
        found, "data_not_writable", f"sudo -u {getuser()} feedmill --data {settings.data} doctor", "chown -R"
    )


async def test_a_folder_that_can_not_be_created_never_asks_for_another_owner_of_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage.os, "access", lambda path, mode: False)

    found = await findings_of(Settings(data=tmp_path / "a folder"))

    assert is_error(found, "data_not_creatable", f"install -d -m 700 -o {getuser()} '{tmp_path}/a folder'")
    assert "chown" not in f"{found['data_not_creatable'].remedy}"
    assert "data_not_writable" not in found


async def test_a_folder_that_this_user_may_not_look_into_is_named_once_with_its_owner(
    settings: Settings, db: Database
) -> None:
    with forbidden(settings.data):
        found = [finding for findings in (await diagnose(settings, NOW)).values() for finding in findings]

    [finding] = [finding for finding in found if finding.code == "not_permitted"]
    assert_is_written(finding)
    assert f"sudo -u {getuser()} feedmill --data {settings.data} doctor" in str(finding.remedy)
    assert not {"server_not_running", "database_new", "objects_new"} & {finding.code for finding in found}


async def test_a_path_that_leads_nowhere_is_an_error_of_its_check(settings: Settings) -> None:
    settings.data.symlink_to(settings.data)

    findings = (await diagnose(settings, NOW))["storage"]

    assert "Too many levels of symbolic links" in str(findings[0].text)
    assert "dmesg" in str(findings[0].remedy)


def test_each_file_system_of_the_installation_must_have_space(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev")
    place = "sqlite:////proc/%73elf/feedmill.db"

    folders = folders_to_fill(Settings(data=settings.data, database=place, objects=str(tmp_path / "link" / "objects")))

    assert folders == [tmp_path.resolve(), Path(f"/proc/{os.getpid()}"), Path("/dev")]


async def test_a_file_system_without_inodes_is_an_error(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "MIN_FREE_FILES", 10**18)
    monkeypatch.setattr(storage, "MIN_FREE_BYTES", 0)
    if storage.os.statvfs(settings.data).f_files == 0:
        pytest.skip("this file system does not count its files")

    assert is_error(await findings_of(settings), "inodes_used_up", "df -i")


def test_the_file_system_of_a_folder_is_that_of_the_nearest_mount() -> None:
    folders = ("/home/alice", "/srv/feedmill", "/srv/my share/feedmill", "/mnt/box", "/mnt/boxes")

    assert [file_system_of(Path(folder), MOUNTS) for folder in folders] == ["ext4", "xfs", "nfs4", "cifs", "ext4"]


def test_a_database_on_a_network_share_is_a_warning() -> None:
    finding = judge_file_system(Path("/mnt/box"), "cifs")

    assert finding is not None
    assert_is_written(finding)
    assert finding.code == "network_file_system"
    assert judge_file_system(Path("/srv"), "xfs") is None


async def test_data_that_others_can_read_is_an_error_unless_it_is_a_group(settings: Settings, db: Database) -> None:
    settings.data.chmod(0o755)
    (settings.data / "feedmill.db").chmod(0o644)
    everybody = await findings_of(settings)
    settings.data.chmod(0o750)
    (settings.data / "feedmill.db").chmod(0o640)

    assert is_error(everybody, "private_data_readable", "chmod go-rwx", "feedmill.db")
    assert "group_can_read" in await findings_of(settings)


def test_private_data_is_found_by_an_encoded_url_and_the_command_for_it_can_be_pasted(tmp_path: Path) -> None:
    folder = tmp_path / "my data"
    folder.mkdir(mode=0o755)
    (folder / "feedmill.db").touch(mode=0o644)
    (folder / "feedmill.db").chmod(0o644)

    wide = readable_by_others(Settings(data=tmp_path, database=f"sqlite:///{tmp_path}/my%20data/feedmill.db"))

    assert permission_fix(wide) == f"chmod go-rwx '{folder}/feedmill.db'"


async def test_an_object_store_that_works_is_fine_and_nothing_stays_in_it(settings: Settings, db: Database) -> None:
    (settings.data / "objects").mkdir()

    assert "objects_ok" in await findings_of(settings)
    assert not [path for path in (settings.data / "objects").rglob("*") if path.is_file()]


async def test_an_object_store_that_can_not_be_used_is_an_error(tmp_path: Path) -> None:
    found = await findings_of(Settings(data=tmp_path, objects="/proc"))

    assert is_error(found, "objects_unusable", "s3_access_key")


async def test_a_named_folder_of_objects_that_is_not_there_is_a_warning_and_is_not_created(
    settings: Settings, db: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "disk" / "objects"

    found = await findings_of(Settings(data=settings.data, objects=str(folder)))

    assert is_warning(found, "objects_not_there", "mount", f"install -d -m 700 -o {getuser()} {folder}")
    assert not folder.parent.exists()


async def test_an_object_that_differs_is_an_error(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write_and_read(blobs: object) -> bool:
        return False

    (settings.data / "objects").mkdir()
    monkeypatch.setattr(object_store, "_write_and_read", write_and_read)

    assert is_error(await findings_of(settings), "objects_differ")


async def test_a_store_of_another_database_is_an_error(settings: Settings, db: Database) -> None:
    mark = settings.data / "objects" / OWNER_KEY
    mark.parent.mkdir(parents=True)
    mark.write_text("another")

    assert is_error(await findings_of(settings), "store_of_another_database", "--take-ownership")


async def test_images_that_fill_their_share_are_a_warning(settings: Settings, db: Database) -> None:
    [entry_id] = await add_entries(db, ["a"])
    image = {"feed_id": 1, "entry_id": entry_id, "original_url": "http://a.example/1.png", "size": 2000}
    await insert(db, image_tasks, **image, created_at=NOW, updated_at=NOW)

    found = await findings_of(Settings(data=settings.data, images_total_bytes=1000))

    assert is_warning(found, "image_limit_reached", "images_total_bytes")
