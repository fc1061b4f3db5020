"""Opens the listening socket and runs uvicorn on it until a signal ends it."""

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import ceil
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from feedmill.errors import CallerError
from feedmill.serve.http.connections.connection_limits import ConnectionRegistry
from feedmill.serve.http.connections.open_file_limit import reserve_open_files
from feedmill.serve.http.connections.proxy_user import RecordPeer
from feedmill.serve.http.connections.slow_clients import Deadlines, TimedProtocol
from feedmill.settings import Settings
from feedmill.stop_signals import stop_signals

# A server listens on a wildcard, but a browser can't open it.
LOOPBACK_OF_WILDCARD = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
# Uvicorn ticks ten times a second.
TICKS_PER_CHECK = 5

GRACE_SECONDS = 3
MAX_UNSENT_BYTES = 131_072


def listen(settings: Settings) -> socket.socket:
    """Binds the port; called first, so that a port in use is reported before anything else happens."""
    family = socket.AF_INET6 if ":" in settings.listen else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _limit_send_buffers(listening)
    try:
        listening.bind((settings.listen, settings.port))
    except OSError as error:
        listening.close()
        raise CallerError(
            f"can't listen on {listening_address(settings)}: {error.strerror} (choose another with --listen or --port)"
        ) from error
    return listening


def _limit_send_buffers(listening: socket.socket) -> None:
    """Keeps the kernel from buffering megabytes for each client that does not read; connections inherit it."""
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MAX_UNSENT_BYTES)


def address_to_open(settings: Settings) -> str:
    """The URL that users open, as the start of a server prints it."""
    if settings.public_url:
        return settings.public_url
    if here := LOOPBACK_OF_WILDCARD.get(settings.listen):
        return f"{_url(here, settings.port)} (from another machine with the name or address of this one)"
    return listening_address(settings)


def listening_address(settings: Settings) -> str:
    return _url(settings.listen, settings.port)


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve_on(listening: socket.socket, asgi: ASGIApp, settings: Settings) -> None:
    """Serves requests until a signal stops the server."""
    most = reserve_open_files(settings)
    registry = ConnectionRegistry(most, settings.connections_per_address, settings.trusted_proxies)
    logging.getLogger("uvicorn.error").addFilter(is_no_cancelled_request)
    await DeadlineServer(uvicorn_config(asgi, settings, registry), registry).serve(sockets=[listening])


def is_no_cancelled_request(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn is not about a request that was cancelled at the end, such as a stream of events.

    Every open page has such a stream, and would be a traceback in the log.
    """
    is_cancelled = bool(record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
    return not is_cancelled and not record.getMessage().startswith("Cancel ")


def uvicorn_config(asgi: ASGIApp, settings: Settings, registry: ConnectionRegistry) -> uvicorn.Config:
    """The configuration of uvicorn. The headers of a trusted proxy set a request's address and scheme."""
    protocol = partial(TimedProtocol, registry=registry, deadlines=Deadlines.from_settings(settings))
    trusted = [str(network) for network in settings.trusted_proxies]
    # uvicorn and Starlette type the same interface differently.
    behind_proxies = cast("Any", ProxyHeadersMiddleware(cast("Any", asgi), trusted))
    return uvicorn.Config(
        RecordPeer(behind_proxies),
        log_config=None,
        access_log=False,
        # We have no handlers of its events; if a signal comes during its start, they would be a traceback in the log.
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        # It is among the middleware above, which needs the address that it replaces.
        proxy_headers=False,
        # uvicorn only calls it. No WebSockets: they would bypass the protocol with its deadlines.
        http=cast("type[TimedProtocol]", protocol),
        ws="none",
        timeout_keep_alive=ceil(settings.keep_alive_seconds),
    )


class DeadlineServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, registry: ConnectionRegistry) -> None:
        super().__init__(config)
        self._registry = registry
        self._is_stopped_by_signal = False

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stops the server on a signal. uvicorn would raise the signal again, which would kill the remaining work."""
        loop, numbers = asyncio.get_running_loop(), stop_signals()
        for number in numbers:
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)
            if self._is_stopped_by_signal:
                _ignore_repeated_signals()

    def _stop(self, number: signal.Signals) -> None:
        self._is_stopped_by_signal = True
        self.handle_exit(number, None)

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS_PER_CHECK == 0:
            self._registry.check_deadlines(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


def _ignore_repeated_signals() -> None:
    """Lets the remaining work end: only a second Ctrl-C interrupts it.

    A shell and its terminal send SIGHUP one after the other, and `watch_schema` sends SIGTERM whenever it sees a newer
    database.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
