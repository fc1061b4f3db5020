"""Work that is done side by side, and to its end."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


async def all_of(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Waits for all, also when one fails, and then raises the first failure: nothing goes on unseen."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
