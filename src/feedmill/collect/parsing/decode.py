"""Detects the character encoding of a document and decodes it."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from chardetng_py import EncodingDetector

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16 LE, because it begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ZERO_PATTERNS: dict[tuple[bool, ...], str] = {
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
    (False, True, False, False): "utf-16-le",
    (True, False, False, False): "utf-16-be",
}
_EBCDIC_DECLARATION = b"\x4c\x6f\xa7\x94\x93"
_ISO_2022 = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$B", "iso2022_jp_2"),
    (b"\x1b$@", "iso2022_jp_2"),
    (b"\x1b(J", "iso2022_jp_2"),
    (b"\x1b(I", "iso2022_jp_3"),
)

# Labels that browsers read as a larger encoding than Python's codec of the same name.
_BROWSER_CODECS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "johab": "cp949",
}
_WEB_LABELS = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ms_kanji": "cp932",
    "x-gbk": "gb18030",
    "cn-gb": "gb18030",
    "x-x-big5": "big5hkscs",
    "cn-big5": "big5hkscs",
    "x-euc-jp": "euc_jp",
    "windows-949": "cp949",
    "korean": "cp949",
    "ksc_5601": "cp949",
    "dos-874": "cp874",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-mac-roman": "mac_roman",
    "mac": "mac_roman",
    "csmacintosh": "mac_roman",
    "ms-cyrl": "cp1251",
    "x-ansi": "cp1252",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "koi": "koi8_r",
    "koi8": "koi8_r",
    "unicode-1-1-utf-8": "utf-8",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
}
_NOT_ON_THE_WEB = frozenset({"idna", "punycode", "undefined", "charmap", "unicode-escape", "raw-unicode-escape"})
_HTTP_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?\bencoding\s*=\s*[\"']\s*([A-Za-z0-9._:+-]+)")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document in UTF-8 without byte order mark and leading space, and its original encoding."""

    utf8: bytes
    encoding: str

    @property
    def text(self) -> str:
        return self.utf8.decode()


def decode(data: bytes, content_type: str | None = None) -> Decoded:
    """Decodes a document: by its bytes if they show the encoding, else by its labels, else by detection."""
    body, encoding = _encoding_by_signature(data)
    if encoding is not None:
        return _decoded(body.decode(encoding, "replace"), encoding)
    if _is_utf8(body):
        return Decoded(body.lstrip(), "utf-8")
    labels = list(_labels(body, content_type))
    return _by_label(body, labels) or _with_a_few_broken_bytes(body, labels) or _by_detection(body)


def codec_for(label: str) -> str | None:
    """The codec that a browser uses for a label, or None if it is no text encoding that we know."""
    name = label.strip().lower()
    if name in _WEB_LABELS:
        return _WEB_LABELS[name]
    try:
        known = codecs.lookup(name).name
        b"<".decode(known, "replace")  # raises for codecs that are not of text, like base64
    except (LookupError, ValueError):
        return None
    if known in _NOT_ON_THE_WEB or known.startswith(("utf-16", "utf-32", "utf-7")):
        return None  # their bytes would have shown them; as a label alone they garble plain text
    return _BROWSER_CODECS.get(known, known)


def _encoding_by_signature(data: bytes) -> tuple[bytes, str | None]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            body = data[len(mark) :]
            return (body, encoding) if encoding != "utf-8" else (body, None)
    zeros = _ZERO_PATTERNS.get(tuple(byte == 0 for byte in data[:4]))
    if zeros is not None:
        return data, zeros
    if data.startswith(_EBCDIC_DECLARATION):
        return data, _ebcdic_codec(data)
    if b"\x1b" in data:
        return data, next((codec for escape, codec in _ISO_2022 if escape in data), None)
    return data, None


def _ebcdic_codec(data: bytes) -> str:
    declared = _XML_ENCODING.search(data[:400].decode("cp037").encode("ascii", "replace"))
    codec = codec_for(declared[1].decode()) if declared else None
    return codec if codec and "<?xml".encode(codec, "replace") == _EBCDIC_DECLARATION else "cp037"


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _labels(data: bytes, content_type: str | None) -> Iterator[str]:
    http = _HTTP_CHARSET.search(content_type or "")
    xml = _XML_ENCODING.search(data[:1024])
    for label in (http[1] if http else None, xml[1].decode() if xml else None):
        codec = codec_for(label) if label else None
        if codec is not None:
            yield codec


def _by_label(data: bytes, codecs_in_order: list[str]) -> Decoded | None:
    for codec in codecs_in_order:
        try:
            return _decoded(data.decode(codec), codec)
        except UnicodeError:
            continue
    return None


def _with_a_few_broken_bytes(data: bytes, codecs_in_order: list[str]) -> Decoded | None:
    for codec in ("utf-8", *codecs_in_order):
        text = data.decode(codec, "replace")
        broken = text.count("\ufffd")
        valid = sum(map(len, _NON_ASCII.findall(text))) - broken
        # Random bytes are hardly ever valid UTF-8, so for UTF-8 more valid than broken sequences are enough.
        if valid > (broken if codec == "utf-8" else broken * 50):
            return _decoded(text, codec)
    return None


def _by_detection(data: bytes) -> Decoded:
    detector = EncodingDetector()
    detector.feed(data, last=True)
    codec = codec_for(detector.guess(tld=None, allow_utf8=False)) or "cp1252"
    return _decoded(data.decode(codec, "replace"), codec)


def _decoded(text: str, encoding: str) -> Decoded:
    return Decoded(text.removeprefix("\ufeff").lstrip().encode("utf-8", "replace"), encoding)


_META_CHARSET = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.I)
_PRESCAN = 4096


def decode_page(data: bytes, content_type: str | None) -> str:
    """Decodes a web page like a feed, with `<meta charset>` if HTTP names no encoding."""
    declared = _META_CHARSET.search(data, 0, _PRESCAN)
    if declared and "charset" not in (content_type or "").lower():
        content_type = f"text/html; charset={declared[1].decode('ascii')}"
    return decode(data, content_type).text
