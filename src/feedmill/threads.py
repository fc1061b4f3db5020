"""Runs work on long texts in a thread, so that it does not block the event loop (docs/decisions/event-loop.md)."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

# Up to here an ordinary text takes less time than handing it to a thread, and a hostile one not long.
INLINE_CHARACTERS = 10_000

Params = ParamSpec("Params")
Result = TypeVar("Result")


async def run_in_thread_if_large(
    size: int, work: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs
) -> Result:
    """Returns `work(...)`, done in a thread when the texts it reads have more than a few characters or bytes."""
    if size <= INLINE_CHARACTERS:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
