"""Bodies are decompressed as they stream in; bombs, truncated and mislabelled bodies end early."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
from backports import zstd

from feedmill.model.fetch_outcome import Refused, Response, Retryable
from feedmill.outbound.client import Client
from feedmill.outbound.content_encoding import BodyDecoder, BodyTooLarge, InvalidEncoding, TruncatedBody
from tests.scripted_web import Answer, Web

TEXT = "<rss>Grüße, 世界</rss>".encode() * 500


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


def two_halves(compress: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: compress(data[:999]) + compress(data[999:])


CODINGS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("GZip", gzip.compress),
    ("gzip", two_halves(gzip.compress)),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("br", brotli.compress),
    ("zstd", zstd.compress),
    ("zstd", two_halves(zstd.compress)),
    ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    ("deflate, identity, gzip", lambda data: gzip.compress(zlib.compress(data))),
]


@pytest.mark.parametrize(("label", "encode"), CODINGS)
async def test_each_encoding_is_decoded(label: str, encode: Callable[[bytes], bytes], web: Web, client: Client) -> None:
    url = web.serve("/", Answer(encode(TEXT), headers={"Content-Encoding": label}))

    outcome = await client.get(url)

    assert isinstance(outcome, Response)
    assert outcome.body == TEXT
    assert outcome.received_bytes < len(TEXT)


@pytest.mark.parametrize("size", [1, 2, 7, 4096])
@pytest.mark.parametrize(("label", "encode"), CODINGS)
def test_chunks_of_any_size_give_the_same_body(label: str, encode: Callable[[bytes], bytes], size: int) -> None:
    body, sent = BodyDecoder(label, 1_000_000), encode(TEXT)

    for start in range(0, len(sent), size):
        body.feed(sent[start : start + size])

    assert body.finish() == TEXT


@pytest.mark.parametrize("cut", [0, 1, 10, -9, -1])
@pytest.mark.parametrize(("label", "encode"), CODINGS)
def test_a_truncated_stream_is_never_accepted(label: str, encode: Callable[[bytes], bytes], cut: int) -> None:
    body = BodyDecoder(label, 1_000_000)
    body.feed(encode(TEXT)[:cut])

    with pytest.raises(TruncatedBody):
        body.finish()


@pytest.mark.parametrize("label", ["", "identity", "utf-8", "none", ","])
async def test_an_unknown_label_is_ignored(label: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(TEXT, headers={"Content-Encoding": label})))

    assert isinstance(outcome, Response)
    assert outcome.body == TEXT


@pytest.mark.parametrize("label", ["compress", "aes128gcm", "gzip, sdch", "gzip, gzip, gzip, gzip", "x" * 5000])
async def test_an_encoding_that_was_not_offered_is_refused(label: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(TEXT, headers={"Content-Encoding": label})))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "encoding"


@pytest.mark.parametrize("label", ["gzip", "deflate", "br", "zstd"])
async def test_a_mislabelled_body_is_an_error(label: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"\xff\xfe<rss/>" * 99, headers={"Content-Encoding": label})))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "decoding"


async def test_a_wrong_checksum_is_an_error(web: Web, client: Client) -> None:
    sent = bytearray(gzip.compress(TEXT))
    sent[-8] ^= 0xFF

    outcome = await client.get(web.serve("/", Answer(bytes(sent), headers={"Content-Encoding": "gzip"})))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "decoding"


@pytest.mark.parametrize("padding", [b"\0" * 512, b"\n", b"<!-- cached -->"])
async def test_padding_after_a_complete_gzip_stream_is_ignored(padding: bytes, web: Web, client: Client) -> None:
    sent = gzip.compress(TEXT) + padding

    outcome = await client.get(web.serve("/", Answer(sent, headers={"Content-Encoding": "gzip"})))

    assert isinstance(outcome, Response)
    assert outcome.body == TEXT


ZEROS = b"\0" * 20_000_000
BOMBS = {
    "gzip": gzip.compress(ZEROS),
    "deflate": zlib.compress(ZEROS),
    "br": brotli.compress(ZEROS, quality=1),
    "zstd": zstd.compress(ZEROS),
    "gzip, gzip": gzip.compress(gzip.compress(ZEROS)),
    "gzip, br": brotli.compress(gzip.compress(ZEROS), quality=1),
}


@pytest.mark.parametrize("label", BOMBS)
async def test_a_bomb_is_refused_in_bounded_memory(label: str, web: Web, client: Client) -> None:
    url = web.serve("/", Answer(BOMBS[label], headers={"Content-Encoding": label}))

    tracemalloc.start()
    outcome = await client.get(url)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert isinstance(outcome, Refused)
    assert outcome.kind == "too_large"
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("label", "empty"), [("gzip", gzip.compress(b"")), ("zstd", zstd.compress(b""))], ids=["gzip", "zstd"]
)
async def test_endless_empty_streams_in_one_body_are_refused(
    label: str, empty: bytes, web: Web, client: Client
) -> None:
    outcome = await client.get(web.serve("/", Answer(empty * 5000, headers={"Content-Encoding": label})))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "decoding"


def test_a_zstd_stream_with_a_huge_window_is_refused() -> None:
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.compression_level: 1}
    stream = zstd.ZstdCompressor(options=options)
    sent = stream.compress(b"x" * 100) + stream.flush()

    with pytest.raises(InvalidEncoding):
        BodyDecoder("zstd", 1_000_000).feed(sent)


def test_the_limit_counts_decoded_and_received_bytes() -> None:
    with pytest.raises(BodyTooLarge):
        BodyDecoder("", 10).feed(b"x" * 11)
    with pytest.raises(BodyTooLarge):
        BodyDecoder("gzip", 10).feed(gzip.compress(b"x" * 11))
    with pytest.raises(BodyTooLarge):
        BodyDecoder("gzip", 100).feed(gzip.compress(b"") + b"\0" * 100)
