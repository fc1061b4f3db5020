"""An SMTP server on loopback that keeps what it gets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiosmtpd.smtp import SMTP


class Mailbox:
    def __init__(self) -> None:
        self.received: list[bytes] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.received.append(envelope.content)
        return "250 OK"


@asynccontextmanager
async def open_mail_server() -> AsyncIterator[tuple[Mailbox, int]]:
    """A mailbox, and the port of the server that fills it."""
    mailbox = Mailbox()
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(mailbox), "127.0.0.1", 0)
    async with server:
        yield mailbox, server.sockets[0].getsockname()[1]
