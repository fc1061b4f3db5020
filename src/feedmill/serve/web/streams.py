"""Parts of pages that are sent again and again while something goes on, for htmx to put in their place."""

from collections.abc import AsyncGenerator

from starlette.responses import HTMLResponse, StreamingResponse

from feedmill.serve.sse import HEADERS, MEDIA_TYPE

DONE = b"event: done\ndata: \n\n"


def message(part: HTMLResponse) -> bytes:
    """A part of a page as one event without a name, which htmx swaps in."""
    lines = bytes(part.body).decode().splitlines()
    return "".join(f"data: {line}\n" for line in lines).encode() + b"\n"


def streamed(parts: AsyncGenerator[bytes, None]) -> StreamingResponse:
    return StreamingResponse(parts, media_type=MEDIA_TYPE, headers=HEADERS)
