"""HTTP/1.1 connections (uvicorn) with deadlines: closes those of clients that send or read too slowly.

A client has a limited time for the headers of a request. While it sends a body or reads a response, it must transfer
some bytes in every period. Deadlines are checked about once a second for all connections together
(`ConnectionRegistry.check_deadlines`); a request itself only records its phases.
"""

import socket
import struct
from asyncio import Transport
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from feedmill.serve.http.connections.connection_limits import ConnectionRegistry, Peer
from feedmill.settings import Settings

# The minimum rate at which a client must send or read, in each period of body_seconds or send_seconds.
BYTES_PER_SECOND = 500
MAX_HEADER_BYTES = 65_536
REFUSED_AT_ONCE = 64
REFUSED_SECONDS = 2.0
RETRY_AFTER = b"retry-after: 5\r\n"

ERROR_TEXTS = {
    408: "The request was sent too slowly.\n请求发送过慢。\n",
    431: "The head of the request is too large.\n请求头过大。\n",
    503: "Too many connections. Try again in a few seconds.\n连接过多，请稍后再试。\n",
}

# Linux, <linux/tcp.h>: the offset of tcpi_bytes_acked in struct tcp_info.
TCP_INFO_SIZE, BYTES_ACKED_AT = 128, 120


class RequestPhase(Enum):
    """Which part of a request is being received."""

    NOTHING = "nothing"
    HEADERS = "headers"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Time limits for clients, in seconds."""

    headers: float
    body: float
    send: float
    keep_alive: float

    @classmethod
    def from_settings(cls, settings: Settings) -> "Deadlines":
        return cls(settings.header_seconds, settings.body_seconds, settings.send_seconds, settings.keep_alive_seconds)


@dataclass(slots=True)
class TransferProgress:
    """Checks whether a count of bytes grows by a fixed amount in each period."""

    since: float
    count: int

    def is_stalled(self, now: float, count: int, period: float) -> bool:
        if count - self.count >= BYTES_PER_SECOND * period:
            self.since, self.count = now, count
        return now - self.since > period

    def restart(self, now: float, count: int) -> None:
        self.since, self.count = now, count


class _DiscardedTrailers(list[tuple[bytes, bytes]]):
    """Discards the trailers of a chunked body, which nobody reads and of which there may be any number."""

    def append(self, item: tuple[bytes, bytes]) -> None:
        pass


DISCARDED_TRAILERS = _DiscardedTrailers()


class TimedProtocol(HttpToolsProtocol):
    """A connection that closes itself when its client is too slow, and counts toward the connection limits."""

    peer: Peer

    def __init__(self, *args: Any, registry: ConnectionRegistry, deadlines: Deadlines, **more: Any) -> None:
        super().__init__(*args, **more)
        self._registry, self._deadlines = registry, deadlines
        self._reading = RequestPhase.NOTHING
        self._since = self.loop.time()
        self._answered = False
        self._refused = False
        self._header_bytes = 0
        self._body_bytes = 0
        self._body = TransferProgress(0.0, 0)
        self._sending: TransferProgress | None = None
        self._open_requests: deque[RequestResponseCycle] = deque()

    # Called by asyncio.

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self._registry.admit(self, self.client[0] if self.client else ""):
            self._refuse()

    def connection_lost(self, exc: Exception | None) -> None:
        self._registry.remove(self)
        # uvicorn notifies only the newest of several pipelined requests.
        for cycle in self._open_requests:
            cycle.disconnected = True
            cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        was_in_headers = self._reading is RequestPhase.HEADERS
        super().data_received(data)
        if was_in_headers and self._reading is RequestPhase.HEADERS:
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES:
                self._drop("large_headers", 431)

    # Called by the parser.

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reading, self._since, self._header_bytes = RequestPhase.HEADERS, self.loop.time(), 0

    def on_headers_complete(self) -> None:
        self._reading, self._body_bytes = RequestPhase.BODY, 0
        self._body.restart(self.loop.time(), 0)
        self._registry.set_busy(self)
        super().on_headers_complete()
        self._open_requests.append(self.cycle)
        self.headers = DISCARDED_TRAILERS

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._reading = RequestPhase.NOTHING
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._since, self._answered = self.loop.time(), True
        self._open_requests.popleft()
        super().on_response_complete()
        if not self._open_requests and not self.transport.get_write_buffer_size():
            self._registry.set_idle(self)

    # Called by the registry.

    def close_idle(self) -> None:
        self.transport.close()

    def check_deadlines(self, now: float) -> None:
        if self._refused:
            if now - self._since > REFUSED_SECONDS:
                self.transport.abort()
        elif self._is_send_stalled(now):
            _reset_on_close(self.transport)
            self._drop("slow_reading")
        elif self.transport.is_closing():
            return
        elif self._open_requests:
            if self._is_body_stalled(now):
                self._drop("slow_body", 408)
        else:
            self._check_without_request(now)

    def unsent_bytes(self) -> int:
        return self.transport.get_write_buffer_size()

    def drop_unsent(self) -> None:
        _reset_on_close(self.transport)
        self._drop("much_unsent")

    def _check_without_request(self, now: float) -> None:
        waited = now - self._since
        until_next_request = self._deadlines.keep_alive if self._answered else self._deadlines.headers
        match self._reading:
            case RequestPhase.HEADERS if waited > self._deadlines.headers:
                self._drop("slow_headers", 408)
            case RequestPhase.BODY if waited > self._deadlines.body:
                # The response was sent before the whole body arrived; the rest is not waited for any longer.
                self._drop("slow_body")
            case RequestPhase.NOTHING if waited > until_next_request:
                self._drop("idle" if self._answered else "no_request")
            case _ if self._sending is None and not self._registry.is_idle(self):
                self._registry.set_idle(self)  # the end of its response has only now been sent

    def _is_body_stalled(self, now: float) -> bool:
        if self._reading is not RequestPhase.BODY:
            return False
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._body.restart(now, self._body_bytes)  # we paused the reading ourselves
        return self._body.is_stalled(now, self._body_bytes, self._deadlines.body)

    def _is_send_stalled(self, now: float) -> bool:
        unsent = self.transport.get_write_buffer_size()
        if not unsent:
            self._sending = None
            return False
        taken = _bytes_acknowledged(self.transport, unsent)
        if self._sending is None:
            self._sending = TransferProgress(now, taken)
        return self._sending.is_stalled(now, taken, self._deadlines.send)

    def _refuse(self) -> None:
        """Answers 503 and closes a little later: closing with unread data would discard the response."""
        self._registry.count_dropped("refused")
        self._refused, self._since = True, self.loop.time()
        if self._registry.refused >= REFUSED_AT_ONCE:
            self.transport.abort()
            return
        self._registry.add_refused(self)
        self._write_response(503, RETRY_AFTER)
        self.transport.write_eof()

    def _drop(self, reason: str, status: int | None = None) -> None:
        """Closes the connection, with an error response if `status` is given and no response has started."""
        self._registry.count_dropped(reason)
        started = any(cycle.response_started for cycle in self._open_requests)
        if status is None or started or self.transport.get_write_buffer_size():
            self.transport.abort()
            return
        self._write_response(status)
        self.transport.close()

    def _write_response(self, status: int, extra: bytes = b"") -> None:
        text = ERROR_TEXTS[status].encode()
        default = b"".join(b"%s: %s\r\n" % header for header in self.server_state.default_headers)
        self.transport.write(
            b"%s%s%scontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
            % (STATUS_LINE[status], default, extra, len(text), text)
        )


def _reset_on_close(transport: Transport) -> None:
    """Makes the connection end with a reset: otherwise the kernel keeps unread data for minutes."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _bytes_acknowledged(transport: Transport, unsent: int) -> int:
    """A number that grows with every byte that the client has acknowledged.

    The size of the buffer is not enough: the kernel takes megabytes from it at once, which a slow line transfers in
    minutes.
    """
    connection = transport.get_extra_info("socket")
    if not hasattr(socket, "TCP_INFO") or connection is None:
        return -unsent
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_SIZE)
    except OSError:
        return -unsent
    if len(info) < TCP_INFO_SIZE:
        return -unsent
    acknowledged: int = struct.unpack_from("=Q", info, BYTES_ACKED_AT)[0]
    return acknowledged
