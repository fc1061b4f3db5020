"""A TCP proxy in front of a server: while blocked, it drops every connection and keeps its port."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self


class TcpProxy:
    """Forwards bytes to a local port; with `hides_end`, not that the server has closed a connection."""

    def __init__(self, port: int, hides_end: bool = False) -> None:
        self._port = port
        self._hides_end = hides_end
        self._is_unblocked = True
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._forward_connection, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.block()
        self._server.close()

    def block(self) -> None:
        self._is_unblocked = False
        for writer in self._writers:
            writer.close()

    def unblock(self) -> None:
        self._is_unblocked = True

    async def _forward_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_unblocked:
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        both = {writer, inner_writer}
        self._writers |= both
        if not self._is_unblocked:
            # Meanwhile.
            self.block()
        with suppress(OSError):
            await asyncio.gather(
                _forward(reader, inner_writer), _forward(inner_reader, writer, closes=not self._hides_end)
            )
        self._writers -= both


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, closes: bool = True) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        if closes:
            writer.close()
