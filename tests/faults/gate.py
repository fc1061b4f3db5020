"""A gate in front of a server: while it is shut, every connection is dropped, and the port stays taken."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self


class Gate:
    """Passes bytes on to a port of this machine."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._is_open = True
        self._passing: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut()
        self._server.close()

    def shut(self) -> None:
        self._is_open = False
        for writer in self._passing:
            writer.close()

    def open(self) -> None:
        self._is_open = True

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_open:
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        both = {writer, inner_writer}
        self._passing |= both
        with suppress(OSError):
            await asyncio.gather(_pass_on(reader, inner_writer), _pass_on(inner_reader, writer))
        self._passing -= both


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
