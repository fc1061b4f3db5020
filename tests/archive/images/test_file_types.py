"""What bytes are, whatever anybody says about them."""

import pytest

from feedmill.archive.images.file_types import TYPE_BY_EXTENSION, describe_non_image, detect_image_type
from tests.archive.images import sample_images

KNOWN = {
    "png": sample_images.PNG,
    "jpg": sample_images.JPEG,
    "gif": sample_images.GIF,
    "webp": sample_images.WEBP,
    "avif": sample_images.AVIF,
    "heic": sample_images.HEIC,
    "bmp": sample_images.BMP,
    "ico": sample_images.ICO,
}


@pytest.mark.parametrize(("extension", "data"), KNOWN.items())
def test_each_type_of_the_table_is_told_from_its_bytes(extension: str, data: bytes) -> None:
    assert detect_image_type(data) is TYPE_BY_EXTENSION[extension]


def test_the_table_holds_images_only_and_no_svg() -> None:
    assert set(TYPE_BY_EXTENSION) == set(KNOWN)
    assert all(type.content_type.startswith("image/") for type in TYPE_BY_EXTENSION.values())
    assert not any("svg" in type.content_type for type in TYPE_BY_EXTENSION.values())


@pytest.mark.parametrize(
    ("data", "seems"),
    [
        (b"", "empty"),
        (sample_images.PAGE, "web_page"),
        (b"\xef\xbb\xbf \n" + sample_images.PAGE, "web_page"),
        (sample_images.SVG, "svg"),
        (b"<!-- c --><SVG onload=alert(1)>", "svg"),
        (b"<!DOCTYPE svg PUBLIC>", "svg"),
        (b'{"error": 1}', "unknown"),
        (b"\x1f\x8b\x08\x00", "unknown"),
        (b"BMfor a walk with the dog, said the text", "unknown"),
        (b"\x00\x00\x01\x00\x00\x00", "unknown"),
        (b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", "unknown"),
        (b"\xff\xff\xff\xffftypmp42" + b"mp42" * 50_000, "unknown"),
        (b"\x89PNG", "unknown"),
    ],
)
def test_what_is_no_image_is_none_and_named(data: bytes, seems: str) -> None:
    assert detect_image_type(data) is None
    assert describe_non_image(data) == seems


@pytest.mark.parametrize("cut", range(1, 12))
def test_the_beginning_of_a_signature_is_no_image(cut: int) -> None:
    for data in KNOWN.values():
        if not data[:cut].startswith((b"GIF89a", b"\xff\xd8\xff\xe0")):
            assert detect_image_type(data[:cut]) is None
