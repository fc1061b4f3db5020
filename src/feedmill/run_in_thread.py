"""Runs work on long texts in a thread, so that it does not block the event loop (docs/decisions/event-loop.md)."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

# Up to this size, work on an ordinary text is faster than starting a thread, and on a hostile one not slow.
INLINE_CHARACTERS = 10_000

Params = ParamSpec("Params")
Result = TypeVar("Result")


async def run_in_thread_if_large(
    size: int, work: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs
) -> Result:
    """Returns `work(...)`, run in a thread when `size`, the length of the texts, is above the limit."""
    if size <= INLINE_CHARACTERS:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
