"""Server-sent events: formats events, reads Last-Event-ID, adds ticks to a silent stream."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

MEDIA_TYPE = "text/event-stream"
# A proxy that gathers answers before it passes them on would make a stream pointless.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
HEARTBEAT = b": still here\n\n"

Item = TypeVar("Item")


def format_event(name: str, data: Any, number: int | None = None) -> bytes:
    """One event; with a number, a client that comes back says that it has seen it."""
    numbered = b"" if number is None else f"id: {number}\n".encode()
    return numbered + f"event: {name}\n".encode() + b"data: " + msgspec.json.encode(data) + b"\n\n"


def parse_last_event_id(header: str | None) -> int:
    """The number of the last event that a client has seen, by its `Last-Event-ID`."""
    return int(header) if header and header.isascii() and header.isdigit() and len(header) < 16 else 0


async def with_idle_ticks(stream: AsyncGenerator[Item, None], every: float) -> AsyncGenerator[Item | None, None]:
    """What the stream says, and None each time that it has said nothing for `every` seconds; ends with it."""
    coming: asyncio.Future[Item] = asyncio.ensure_future(anext(stream))
    try:
        while True:
            await asyncio.wait([coming], timeout=every)
            if not coming.done():
                yield None
                continue
            try:
                item = coming.result()
            except StopAsyncIteration:
                return
            yield item
            coming = asyncio.ensure_future(anext(stream))
    finally:
        coming.cancel()
        with suppress(asyncio.CancelledError, StopAsyncIteration):
            await coming
        await stream.aclose()
