"""How the encoding of a document is chosen."""

import codecs

import pytest

from feedmill.collect.parsing.decode import codec_for, decode

GERMAN = "<rss><channel><title>Größe – „Straße“ über Äpfel</title></channel></rss>"
CHINESE = "<rss><channel><title>今天的新闻：中文测试，编码检测</title></channel></rss>"
JAPANESE = "<rss><channel><title>日本語のフィードを読む試験です</title></channel></rss>"
RUSSIAN = "<rss><channel><title>Сегодня хорошая погода и новости</title></channel></rss>"


def declared(text: str, label: str) -> str:
    return f'<?xml version="1.0" encoding="{label}"?>{text}'


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_overrides_every_label(mark: bytes, codec: str) -> None:
    data = mark + declared(CHINESE, "iso-8859-1").encode(codec)

    read = decode(data, "text/xml; charset=koi8-r")

    assert read.text.endswith(CHINESE)
    assert read.encoding == codec


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf_16_and_utf_32_are_recognized_without_a_byte_order_mark(codec: str) -> None:
    assert decode(GERMAN.encode(codec)).text == GERMAN


@pytest.mark.parametrize("label", ["iso-8859-1", "gb2312", "windows-1251", "utf-16", "no-such-thing"])
def test_valid_utf8_is_utf8_whatever_its_label(label: str) -> None:
    read = decode(declared(CHINESE, label).encode(), f"application/xml; charset={label}")

    assert read.text.endswith(CHINESE)
    assert read.encoding == "utf-8"


@pytest.mark.parametrize(
    ("text", "label", "codec"),
    [
        (CHINESE, "gb2312", "gb18030"),
        (CHINESE, "GBK", "gb18030"),
        ("<rss><title>中華民國新聞測試頁面</title></rss>", "big5", "big5hkscs"),
        (JAPANESE, "Shift_JIS", "cp932"),
        (JAPANESE, "x-sjis", "cp932"),
        (JAPANESE, "euc-jp", "euc_jp"),
        ("<rss><title>한국어 뉴스 피드</title></rss>", "ks_c_5601-1987", "cp949"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (RUSSIAN, "windows-1251", "cp1251"),
        (GERMAN, "iso-8859-1", "cp1252"),
        (GERMAN, "us-ascii", "cp1252"),
    ],
)
@pytest.mark.parametrize("place", ["http", "xml"])
def test_labels_mean_what_they_mean_in_browsers(text: str, label: str, codec: str, place: str) -> None:
    document = declared(text, label) if place == "xml" else text
    header = f'text/xml; charset="{label}"' if place == "http" else "text/xml"

    assert decode(document.encode(codec), header).text.endswith(text)


def test_the_http_label_overrides_the_one_in_the_document() -> None:
    data = declared(RUSSIAN, "koi8-r").encode("cp1251")

    assert decode(data, "text/xml; charset=windows-1251").text.endswith(RUSSIAN)


def test_a_label_that_cannot_be_right_is_skipped() -> None:
    data = declared(CHINESE, "gb2312").encode("gb18030")

    assert decode(data, "text/xml; charset=utf-8").text.endswith(CHINESE)


def test_a_few_broken_bytes_damage_those_characters_only() -> None:
    data = (GERMAN * 20).encode() + b"\xff\xfe" + CHINESE.encode()

    read = decode(data)

    assert read.text.startswith(GERMAN)
    assert read.text.endswith(CHINESE)


@pytest.mark.parametrize(
    ("text", "codec"),
    [(CHINESE * 5, "gb18030"), (JAPANESE * 5, "cp932"), (RUSSIAN * 5, "cp1251"), (GERMAN * 5, "cp1252")],
)
def test_without_a_label_the_encoding_is_detected(text: str, codec: str) -> None:
    assert decode(text.encode(codec)).text == text


def test_iso_2022_jp_is_recognized_although_every_byte_is_ascii() -> None:
    assert decode(JAPANESE.encode("iso2022_jp")).text == JAPANESE


@pytest.mark.parametrize("label", ["rot13", "base64", "zip", "utf-7", "utf-16", "", "x" * 10_000, "\x00"])
def test_an_unknown_label_is_none(label: str) -> None:
    assert codec_for(label) is None


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff", b"\xfe\xff", bytes(range(256))])
def test_any_bytes_can_be_decoded(data: bytes) -> None:
    assert isinstance(decode(data).text, str)
