import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest

from feedmill.archive.object_keys import (
    ImageKey,
    RawBodyKey,
    full_image_key,
    guid_digest,
    image_key,
    parse_image_key,
    parse_raw_body_key,
    pushed_body_key,
    raw_body_key,
)

# Found by trying numbers: their MD5 begin with the same 8 digits.
TWINS = ("https://example.org/45005", "https://example.org/81894")


def test_an_image_key_has_the_form_that_others_rely_on() -> None:
    mark = hashlib.md5(b"https://example.org/1").hexdigest()[:8]

    assert image_key(7, "https://example.org/1", 0, "png") == f"images/7/{mark}/0.png"


def test_two_guids_with_one_mark_can_be_told_apart() -> None:
    one, other = TWINS
    assert guid_digest(one) == guid_digest(other)

    assert image_key(7, one, 0, "png") == image_key(7, other, 0, "png")
    assert full_image_key(7, one, 0, "png") != full_image_key(7, other, 0, "png")


def test_a_full_key_never_meets_a_plain_one() -> None:
    one, other = TWINS

    assert full_image_key(7, one, 0, "png") != image_key(7, other, 0, "png")


def test_a_guid_with_half_a_character_has_a_key() -> None:
    assert parse_image_key(image_key(7, "\ud800", 0, "png"))


@pytest.mark.parametrize("extension", ["", "PNG", "p/g", "..", "png.exe", "verylongext", "png\n"])
def test_an_extension_that_is_none_is_refused(extension: str) -> None:
    with pytest.raises(ValueError, match="extension"):
        image_key(7, "guid", 0, extension)


def test_an_image_key_tells_what_it_was_made_from() -> None:
    plain = parse_image_key(image_key(7, "guid", 3, "webp"))
    full = parse_image_key(full_image_key(7, "guid", 3, "webp"))

    assert plain == full == ImageKey(7, guid_digest("guid"), 3, "webp")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "images/7/xyz/0.png",
        "images/7/ab12cd34/0.PNG",
        "images/７/ab12cd34/0.png",
        "images/7/ab12cd34/0.png\n",
    ],
)
def test_what_is_no_image_key_is_not_read_as_one(key: str) -> None:
    assert parse_image_key(key) is None


def test_a_backup_key_has_the_form_that_others_rely_on() -> None:
    at = datetime(2026, 2, 18, 16, 30, tzinfo=timezone(timedelta(hours=8)))

    assert raw_body_key(7, at) == "backups/7/2026-02-18T08:30:00.000Z.xml"


def test_two_bodies_of_one_second_have_two_keys_that_sort_by_time() -> None:
    at = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)

    keys = [raw_body_key(7, at + timedelta(milliseconds=step)) for step in (0, 1, 50, 999, 1000)]

    assert keys == sorted(set(keys))


def test_a_backup_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        raw_body_key(7, datetime(2026, 2, 18, 8, 30))


@pytest.mark.parametrize("micros", [0, 123_000])
def test_a_backup_key_tells_what_it_was_made_from(micros: int) -> None:
    at = datetime(2026, 2, 18, 8, 30, 1, micros, tzinfo=UTC)

    assert parse_raw_body_key(raw_body_key(7, at)) == RawBodyKey(7, at)
    assert parse_raw_body_key(pushed_body_key(7, at, "ab" * 32)) == RawBodyKey(7, at)


def test_a_backup_key_may_lack_milliseconds() -> None:
    at = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)

    assert parse_raw_body_key("backups/7/2026-02-18T08:30:00Z.xml") == RawBodyKey(7, at)


@pytest.mark.parametrize(
    "key",
    [
        "backups/7/2026-02-30T08:30:00.000Z.xml",
        "backups/7/2026-02-18T08:30:00.000.xml",
        "backups/x/2026-02-18T08:30:00.000Z.xml",
        "images/7/ab12cd34/0.png",
    ],
)
def test_what_is_no_backup_key_is_not_read_as_one(key: str) -> None:
    assert parse_raw_body_key(key) is None
