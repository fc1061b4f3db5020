"""Streams HTML fragments as server-sent events for htmx."""

from collections.abc import AsyncGenerator

from starlette.responses import HTMLResponse, StreamingResponse

from feedmill.serve.http.sse import HEADERS, MEDIA_TYPE

DONE_EVENT = b"event: done\ndata: \n\n"


def fragment_event(part: HTMLResponse) -> bytes:
    """Formats a fragment as one event without a name, which htmx swaps in."""
    lines = bytes(part.body).decode().splitlines()
    return "".join(f"data: {line}\n" for line in lines).encode() + b"\n"


def event_stream(parts: AsyncGenerator[bytes, None]) -> StreamingResponse:
    return StreamingResponse(parts, media_type=MEDIA_TYPE, headers=HEADERS)
