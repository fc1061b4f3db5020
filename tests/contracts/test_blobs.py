"""The contract of object stores, on a folder and on a real S3 server."""

import asyncio
import os
import random
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from feedmill.archive.blobs import Blob, Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.s3 import S3Blobs
from feedmill.errors import BlobMissing, ObjectKeyTooLong
from tests.examples import examples
from tests.services.s3 import s3_config
from tests.services.server import Service

ODD_KEYS = [
    *("", "/", "//", "a/", "/a", "a//b", ".", "..", "../../etc/passwd", "a/../b", "/etc/passwd", ".h"),
    *("a\\b", "a\0b", "a\nb", "\x7f", "a%2fb", "%", "%25", "%.", "a%", "con.", "a ", " ", "a+b c&d=e?f#g"),
    *("日本/語.png", "e\u0301.png", "é.png", "\ufffe\uffff", "\ud800", "😀"),
    *("x" * 300, "日" * 40 + "/" + "é" * 70, "Image.PNG", "image.png"),
    *("2026-02-18T08:30:00.000Z.xml", "2026-02-18t08:30:00.000z.xml"),
]
PNG = "image/png"

bytes_and_keys = st.dictionaries(st.text(st.characters(codec=None), max_size=40), st.binary(max_size=300), max_size=4)


def new_store(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Blobs:
    if kind == "folder":
        return FolderBlobs(tmp_path / uuid4().hex)
    service: Service = request.getfixturevalue("s3_service")
    return S3Blobs(s3_config(service, prefix=f"contract/{uuid4().hex}"))


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return new_store(request.param, tmp_path, request)


async def listed(blobs: Blobs, prefix: str = "") -> dict[str, Blob]:
    found = [blob async for blob in blobs.list_keys(prefix)]
    assert len(found) == len({blob.key for blob in found})
    return {blob.key: blob for blob in found}


async def put_all(blobs: Blobs, keys: list[str]) -> None:
    for start in range(0, len(keys), 50):
        await asyncio.gather(*(blobs.put(key, key.encode("utf-8", "replace"), PNG) for key in keys[start : start + 50]))


@pytest.mark.parametrize("size", [0, 1, 65_536, 6_000_000])
async def test_an_object_comes_back_byte_for_byte(blobs: Blobs, size: int) -> None:
    data = random.Random(size).randbytes(size)

    await blobs.put("images/1/ab12cd34/0.png", data, PNG)

    assert await blobs.get("images/1/ab12cd34/0.png") == data


async def test_keys_with_odd_characters_are_kept_apart_and_listed_as_they_were(blobs: Blobs) -> None:
    await put_all(blobs, ODD_KEYS)

    assert set(await listed(blobs)) == set(ODD_KEYS)
    for key in ODD_KEYS:
        assert await blobs.get(key) == key.encode("utf-8", "replace")
    await blobs.delete_many(ODD_KEYS)
    assert await listed(blobs) == {}


@given(objects=bytes_and_keys)
@example(objects={"a": b"file", "a/b": b"below", "a/b/c": b"", "A": b"", "a.b": b"1", "a.b/c": b"2"})
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_any_keys_hold_any_bytes_side_by_side(
    kind: str, objects: dict[str, bytes], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    blobs = new_store(kind, tmp_path, request)

    async def round_trip() -> None:
        for key, data in objects.items():
            await blobs.put(key, data, PNG)
        assert {key: await blobs.get(key) for key in objects} == objects
        assert {key: blob.size for key, blob in (await listed(blobs)).items()} == {
            key: len(data) for key, data in objects.items()
        }

    asyncio.run(round_trip())


async def test_a_key_too_long_for_some_store_is_refused_by_every_store(blobs: Blobs) -> None:
    with pytest.raises(ObjectKeyTooLong, match="too long"):
        await blobs.put("x" * 1000, b"", PNG)


async def test_a_second_put_replaces_the_first(blobs: Blobs) -> None:
    await blobs.put("a/b.png", b"first, and longer", PNG)
    await blobs.put("a/b.png", b"second", PNG)

    assert await blobs.get("a/b.png") == b"second"
    assert (await listed(blobs))["a/b.png"].size == 6


@pytest.mark.parametrize("span", [(0, None), (0, 10), (3, None), (5, 5)])
async def test_getting_what_is_not_there_says_so(blobs: Blobs, span: tuple[int, int | None]) -> None:
    with pytest.raises(BlobMissing):
        await blobs.get("images/1/ab12cd34/0.png", *span)


@pytest.mark.parametrize(
    "span", [(0, 4), (2, None), (3, 7), (9, 10), (5, 100), (10, 12), (40, 50), (40, None), (3, 3), (5, 2)]
)
async def test_a_part_of_an_object_is_what_a_slice_would_be(blobs: Blobs, span: tuple[int, int | None]) -> None:
    await blobs.put("a.bin", b"0123456789", PNG)

    assert await blobs.get("a.bin", *span) == b"0123456789"[slice(*span)]


async def test_a_part_of_an_empty_object_is_empty(blobs: Blobs) -> None:
    await blobs.put("a.bin", b"", PNG)

    assert await blobs.get("a.bin", 0, 10) == b""


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("", {"images/1/a/0.png", "images/10/a/0.png", "images/1.png", "images/2/a/0.png"}),
        ("images/1/", {"images/1/a/0.png"}),
        ("images/1", {"images/1/a/0.png", "images/10/a/0.png", "images/1.png"}),
        ("images/1/a/0.png", {"images/1/a/0.png"}),
        ("images/1/a/0.png/", set()),
        ("nothing/", set()),
    ],
)
async def test_a_listing_has_the_keys_that_start_with_its_prefix(blobs: Blobs, prefix: str, expected: set[str]) -> None:
    await put_all(blobs, ["images/1/a/0.png", "images/10/a/0.png", "images/1.png", "images/2/a/0.png"])

    assert set(await listed(blobs, prefix)) == expected


async def test_a_listing_tells_size_and_time(blobs: Blobs) -> None:
    await blobs.put("a.bin", b"12345", PNG)

    blob = (await listed(blobs))["a.bin"]
    assert blob.size == 5
    assert abs(blob.modified_at - datetime.now(UTC)) < timedelta(minutes=1)


async def test_2500_objects_are_listed_and_deleted(blobs: Blobs) -> None:
    doomed = [f"images/1/{number:04}/0.png" for number in range(2500)]
    await put_all(blobs, [*doomed, "images/2/kept/0.png"])

    assert set(await listed(blobs, "images/1/")) == set(doomed)
    await blobs.delete_many(doomed)

    assert set(await listed(blobs)) == {"images/2/kept/0.png"}


async def test_deleting_what_is_gone_is_no_error(blobs: Blobs) -> None:
    await blobs.put("a/b.png", b"x", PNG)

    await blobs.delete_many(["a/b.png", "a/b.png", "never/was.png"])
    await blobs.delete_many(["a/b.png"])
    await blobs.delete_many([])

    with pytest.raises(BlobMissing):
        await blobs.get("a/b.png")


async def test_of_many_puts_at_once_one_wins_whole(blobs: Blobs) -> None:
    bodies = [bytes([number]) * 200_000 for number in range(12)]

    await asyncio.gather(*(blobs.put("a/b.bin", body, PNG) for body in bodies))

    assert await blobs.get("a/b.bin") in bodies
    assert set(await listed(blobs)) == {"a/b.bin"}


async def test_putting_and_deleting_neighbours_at_once_loses_nothing(blobs: Blobs) -> None:
    async def come_and_go(name: str) -> None:
        for _ in range(20):
            await blobs.put(f"deep/down/{name}.bin", b"x", PNG)
            await blobs.delete_many([f"deep/down/{name}.bin"])
        await blobs.put(f"deep/down/{name}.bin", b"last", PNG)

    await asyncio.gather(*(come_and_go(str(number)) for number in range(4)))

    assert {key: await blobs.get(key) for key in await listed(blobs)} == {
        f"deep/down/{number}.bin": b"last" for number in range(4)
    }


EXITS_AT_ONCE = """
    import asyncio, os, sys
    from pathlib import Path
    from feedmill.archive.files import FolderBlobs
    from feedmill.archive.s3 import S3Blobs
    from tests.services.s3 import s3_config
    from tests.services.server import Service

    async def main():
        place = sys.argv[1]
        blobs = S3Blobs(s3_config(Service("", "", place))) if "://" in place else FolderBlobs(Path(place))
        await asyncio.gather(*(blobs.put(f"exit/{n}.bin", b"x" * 50_000, "image/png") for n in range(20)))
        await asyncio.gather(*(blobs.get(f"exit/{n}.bin") for n in range(20)))

    asyncio.run(main())
"""


@pytest.mark.external
@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_a_process_that_exits_right_after_a_call_ends_well(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = str(tmp_path) if kind == "folder" else request.getfixturevalue("s3_service").url
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}

    for _ in range(8):
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(EXITS_AT_ONCE), place],
            env=environment,
            capture_output=True,
            timeout=120,
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
