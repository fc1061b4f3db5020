"""Server-sent events: formats events, parses Last-Event-ID, adds ticks to an idle stream."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

MEDIA_TYPE = "text/event-stream"
# A proxy must not buffer the stream.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
HEARTBEAT = b": still here\n\n"

Item = TypeVar("Item")


def format_event(name: str, data: Any, number: int | None = None) -> bytes:
    """Formats one event; a client that reconnects sends the last number as `Last-Event-ID`."""
    numbered = b"" if number is None else f"id: {number}\n".encode()
    return numbered + f"event: {name}\n".encode() + b"data: " + msgspec.json.encode(data) + b"\n\n"


def parse_last_event_id(header: str | None) -> int:
    """The number in a `Last-Event-ID` header; 0 without a valid one."""
    return int(header) if header and header.isascii() and header.isdigit() and len(header) < 16 else 0


async def with_idle_ticks(stream: AsyncGenerator[Item, None], every: float) -> AsyncGenerator[Item | None, None]:
    """Yields the items of the stream, and None whenever it has been idle for `every` seconds."""
    next_item: asyncio.Future[Item] = asyncio.ensure_future(anext(stream))
    try:
        while True:
            await asyncio.wait([next_item], timeout=every)
            if not next_item.done():
                yield None
                continue
            try:
                item = next_item.result()
            except StopAsyncIteration:
                return
            yield item
            next_item = asyncio.ensure_future(anext(stream))
    finally:
        next_item.cancel()
        with suppress(asyncio.CancelledError, StopAsyncIteration):
            await next_item
        await stream.aclose()
