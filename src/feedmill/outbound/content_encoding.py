"""Decodes gzip, deflate, br and zstd while a body streams in, up to a size limit."""

import sys
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Protocol

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STEP = 256 * 1024
MAX_CODINGS = 3
MAX_LABEL = 200
MAX_MEMBERS = 1000  # streams in a row inside one body; empty ones cost time and never reach the size limit
GZIP = zlib.MAX_WBITS | 16
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_WINDOW_LOG = 23  # 8 MB: what RFC 9659 allows for the web
# Labels that servers send by mistake for a body that is not encoded at all.
NOT_ENCODED_LABELS = frozenset({"", "identity", "none", "utf-8", "utf8", "binary", "8bit"})
ACCEPT_ENCODING = "gzip, deflate, br, zstd"


class UnknownEncoding(Exception):
    """The body is in a coding that we can't decode, or in too many."""


class InvalidEncoding(Exception):
    """The body is not valid in its coding."""


class TruncatedBody(Exception):
    """The body ended before its coding did."""


class BodyTooLarge(Exception):
    """The decoded body is over the limit."""


class Decoder(Protocol):
    """Decodes one coding. `feed` yields pieces of bounded size; `finish` raises `TruncatedBody`."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def finish(self) -> None: ...


class ZlibDecoder:
    """Decodes gzip (of any number of members), zlib or raw deflate; `choose` finds out from the first bytes which."""

    def __init__(self, choose: Callable[[bytes], int]) -> None:
        self._choose = choose
        self._head = b""
        self._stream: "zlib._Decompress | None" = None  # noqa: UP037
        self._wbits = 0
        self._members = 1
        self._done = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            self._wbits = self._choose(data)
            self._stream = zlib.decompressobj(self._wbits)
        while data and not self._done:
            try:
                piece = self._stream.decompress(data, STEP)
            except zlib.error as error:
                raise InvalidEncoding(str(error)) from error
            if piece:
                yield piece
            data = self._next_member() if self._stream.eof else self._stream.unconsumed_tail

    def _next_member(self) -> bytes:
        """What follows a finished gzip member: the next one, or padding, which is ignored as browsers do."""
        rest = self._stream.unused_data if self._stream else b""
        if self._wbits == GZIP and rest.startswith(GZIP_MAGIC):
            self._members = _count_member(self._members)
            self._stream = zlib.decompressobj(self._wbits)
            return rest
        self._done = self._wbits != GZIP or not GZIP_MAGIC.startswith(rest)
        return b""

    def finish(self) -> None:
        if self._stream is None or not self._stream.eof:
            raise TruncatedBody


class BrotliDecoder:
    """Decodes br."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished():
            try:
                piece = self._stream.process(data, output_buffer_limit=STEP)
            except brotli.error as error:
                raise InvalidEncoding("brotli") from error
            if piece:
                yield piece
            if self._stream.can_accept_more_data():
                return
            data = b""

    def finish(self) -> None:
        if not self._stream.is_finished():
            raise TruncatedBody


class ZstdDecoder:
    """Decodes zstd of any number of frames."""

    def __init__(self) -> None:
        self._stream = self._new_stream()
        self._members = 1

    def _new_stream(self) -> zstd.ZstdDecompressor:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._stream.eof:
                data = self._stream.unused_data + data
                if not data:
                    return
                self._members = _count_member(self._members)
                self._stream = self._new_stream()
            try:
                piece = self._stream.decompress(data, STEP)
            except zstd.ZstdError as error:
                raise InvalidEncoding(str(error)) from error
            data = b""
            if piece:
                yield piece
            if self._stream.needs_input and not self._stream.eof:
                return

    def finish(self) -> None:
        if not self._stream.eof:
            raise TruncatedBody


class BodyDecoder:
    """Decodes a body while it arrives; raises `BodyTooLarge` as soon as it is over the limit."""

    def __init__(self, content_encoding: str, max_bytes: int) -> None:
        self._decoders = _decoders(content_encoding)
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self.received_bytes = 0

    def feed(self, data: bytes) -> None:
        """Takes bytes as they were received."""
        self.received_bytes += len(data)
        if self.received_bytes > self._max_bytes:
            raise BodyTooLarge
        for piece in _decode(self._decoders, data):
            self._size += len(piece)
            if self._size > self._max_bytes:
                raise BodyTooLarge
            self._pieces.append(piece)

    def finish(self) -> bytes:
        """The whole decoded body."""
        for decoder in self._decoders:
            decoder.finish()
        return b"".join(self._pieces)


def _count_member(members: int) -> int:
    if members >= MAX_MEMBERS:
        raise InvalidEncoding("too many streams in one body")
    return members + 1


def _decode(decoders: tuple[Decoder, ...], data: bytes) -> Iterator[bytes]:
    if not decoders:
        yield data
        return
    for piece in decoders[0].feed(data):
        yield from _decode(decoders[1:], piece)


def _decoders(content_encoding: str) -> tuple[Decoder, ...]:
    """The decoders in the order in which the body passes through them: the last coding first."""
    return tuple(_decoder(coding) for coding in _codings(content_encoding))


@lru_cache(maxsize=64)
def _codings(content_encoding: str) -> tuple[str, ...]:
    labels = [label.strip().lower() for label in content_encoding[:MAX_LABEL].split(",")]
    codings = [label for label in labels if label not in NOT_ENCODED_LABELS]
    if len(codings) > MAX_CODINGS:
        raise UnknownEncoding("too many codings")
    return tuple(reversed(codings))


def _decoder(coding: str) -> Decoder:
    match coding:
        case "gzip" | "x-gzip":
            return ZlibDecoder(lambda head: GZIP)
        case "deflate":
            return ZlibDecoder(_zlib_or_raw)
        case "br":
            return BrotliDecoder()
        case "zstd":
            return ZstdDecoder()
    raise UnknownEncoding(coding[:40])


def _zlib_or_raw(head: bytes) -> int:
    """RFC 9110 says zlib, but some servers send raw deflate. Only the first two bytes of zlib are a multiple of 31."""
    is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
