import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.archive.files import FolderBlobs
from feedmill.errors import BlobUnavailable
from tests.cli.tmpfs import skip_or_fail_in_ci, skip_unless_root
from tests.services.server import folder
from tests.waiting import wait_until

KEY = "images/1/ab12cd34/0.png"
NOBODY = 65534


def files_under(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}


async def keys_of(blobs: FolderBlobs) -> set[str]:
    return {blob.key async for blob in blobs.list_keys("")}


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's right to write anywhere, if we have it."""
    uid = os.geteuid()
    if uid == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(uid)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """A disk that takes the first bytes of a file and refuses the rest."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of half a megabyte, which only root may mount."""
    skip_unless_root()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", tmp_path], capture_output=True).returncode:
        skip_or_fail_in_ci("a small disk can't be mounted here; the test of a write cut off still runs")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path], check=True)


async def test_an_object_lies_under_its_very_key(tmp_path: Path) -> None:
    await FolderBlobs(tmp_path).put(KEY, b"png", "image/png")

    assert (tmp_path / KEY).read_bytes() == b"png"


@pytest.mark.parametrize("key", ["../out.png", "../../out.png", "/out.png", "a/../../out.png", "..\\out.png", ".."])
async def test_no_key_leads_out_of_the_folder(tmp_path: Path, key: str) -> None:
    inside = tmp_path / "objects"

    await FolderBlobs(inside).put(key, b"x", "image/png")

    assert [path.name for path in tmp_path.iterdir()] == ["objects"]
    assert len(files_under(inside)) == 1


async def test_an_object_has_no_address_of_its_own(tmp_path: Path) -> None:
    assert await FolderBlobs(tmp_path).url(KEY, timedelta(hours=1)) is None


async def test_only_images_have_a_public_address(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path, "https://cdn.example/mill")

    assert await blobs.url("images/1/0cc175b9/0.png", timedelta(hours=1)) == (
        "https://cdn.example/mill/images/1/0cc175b9/0.png"
    )
    assert await blobs.url("backups/1/2026-02-18T08:30:00Z.xml", timedelta(hours=1)) is None


async def test_a_write_that_the_disk_cuts_off_leaves_the_old_object_and_no_half_file(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    await blobs.put(KEY, b"old", "image/png")

    with files_no_larger_than(50_000), pytest.raises(BlobUnavailable) as caught:
        await blobs.put(KEY, b"x" * 200_000, "image/png")

    assert str(caught.value) == f"can't write to the object folder {tmp_path}: File too large"
    assert files_under(tmp_path) == {KEY}
    assert await blobs.get(KEY) == b"old"


async def test_a_full_disk_is_one_clear_line_and_writing_goes_on_when_there_is_room(small_disk: Path) -> None:
    blobs = FolderBlobs(small_disk)
    await blobs.put("a.bin", b"x" * 20_000, "image/png")

    with pytest.raises(BlobUnavailable, match="No space left on device"):
        await blobs.put("b.bin", b"x" * 900_000, "image/png")
    await blobs.put("c.bin", b"y" * 20_000, "image/png")

    assert files_under(small_disk) == {"a.bin", "c.bin"}


async def test_a_folder_that_may_not_be_written_is_one_clear_line() -> None:
    with folder("objects") as path:
        blobs = FolderBlobs(path / "objects")
        path.chmod(0o555)
        with as_nobody(), pytest.raises(BlobUnavailable) as caught:
            await blobs.put(KEY, b"x", "image/png")

    assert str(caught.value) == f"can't write to the object folder {path}/objects: Permission denied"


async def test_a_file_where_the_folder_should_be_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "objects").write_text("not a folder")

    with pytest.raises(BlobUnavailable, match=r"can't write to .*: Not a directory"):
        await FolderBlobs(tmp_path / "objects").put(KEY, b"x", "image/png")


async def test_a_folder_that_may_not_be_read_is_an_error_and_not_an_empty_list(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    await blobs.put(KEY, b"x", "image/png")
    (tmp_path / "images").rename(tmp_path / "elsewhere")
    (tmp_path / "images").symlink_to("images")

    with pytest.raises(BlobUnavailable, match="can't list"):
        [blob async for blob in blobs.list_keys("images/")]


KILLED_WHILE_WRITING = """
import asyncio, sys
from pathlib import Path
from feedmill.archive.files import FolderBlobs

async def main():
    blobs = FolderBlobs(Path(sys.argv[1]))
    print("writing", flush=True)
    while True:
        await asyncio.gather(*(blobs.put(f"a/{n}.bin", bytes([n]) * 3_000_000, "") for n in range(4)))

asyncio.run(main())
"""


def write_and_be_killed(place: Path, has_come_far: Callable[[], bool]) -> None:
    """Kills a writer amid a file, when it has come as far as it should."""
    left_before = set(place.glob(".partial/*"))

    def is_the_moment() -> bool:
        return has_come_far() and bool(set(place.glob(".partial/*")) - left_before)

    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(place)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        writer.stdout.readline()
        wait_until(is_the_moment, otherwise="the writer has not come so far")
        writer.kill()


@pytest.mark.external
async def test_a_writer_killed_at_any_moment_leaves_whole_objects_only(tmp_path: Path) -> None:
    for objects in (0, 0, 1, 4, 4):
        await asyncio.to_thread(
            write_and_be_killed, tmp_path, lambda at_least=objects: len(list(tmp_path.glob("a/*"))) >= at_least
        )

    blobs = FolderBlobs(tmp_path)
    keys = await keys_of(blobs)
    assert keys
    for key in keys:
        number = int(key.removeprefix("a/").removesuffix(".bin"))
        assert await blobs.get(key) == bytes([number]) * 3_000_000


async def test_what_a_killed_writer_left_is_not_listed_and_goes_after_an_hour(tmp_path: Path) -> None:
    await FolderBlobs(tmp_path).put(KEY, b"x", "image/png")
    old, fresh = tmp_path / ".partial/old", tmp_path / ".partial/fresh"
    old.write_bytes(b"half")
    fresh.write_bytes(b"half")
    two_hours_ago = time.time() - 7200
    os.utime(old, (two_hours_ago, two_hours_ago))

    blobs = FolderBlobs(tmp_path)
    assert await keys_of(blobs) == {KEY}
    await blobs.put(KEY, b"y", "image/png")

    assert not old.exists()
    assert fresh.exists()


async def test_many_writers_may_start_at_once_in_a_new_folder(tmp_path: Path) -> None:
    for round_ in range(10):
        place = tmp_path / str(round_) / "objects"
        keys = [f"images/{number}/0.png" for number in range(12)]

        await asyncio.gather(*(FolderBlobs(place).put(key, b"x", "image/png") for key in keys))

        assert await keys_of(FolderBlobs(place)) == set(keys)


async def test_deleting_the_last_object_of_a_folder_removes_the_folder(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "objects")
    await blobs.put(KEY, b"x", "image/png")
    await blobs.put("images/2/ab12cd34/0.png", b"x", "image/png")

    await blobs.delete_many([KEY])
    assert not (tmp_path / "objects/images/1").exists()
    assert (tmp_path / "objects/images/2/ab12cd34/0.png").exists()

    await blobs.delete_many(["images/2/ab12cd34/0.png"])
    assert not (tmp_path / "objects/images").exists()
    assert (tmp_path / "objects").exists()


async def test_files_of_others_are_neither_listed_nor_touched(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("by hand")
    (tmp_path / ".DS_Store").write_text("")
    blobs = FolderBlobs(tmp_path)

    await blobs.put("readme.md", b"ours", "text/plain")

    assert await keys_of(blobs) == {"readme.md"}
    assert (tmp_path / "README.md").read_text() == "by hand"


async def test_a_removed_folder_is_made_again(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "objects")
    await blobs.put(KEY, b"x", "image/png")
    (tmp_path / "objects").rename(tmp_path / "moved")

    await blobs.put(KEY, b"y", "image/png")

    assert await blobs.get(KEY) == b"y"
