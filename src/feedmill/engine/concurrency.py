"""Runs coroutines concurrently and waits for all of them, also when one fails."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


async def gather_all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Waits for all, also when one fails, and then raises the first failure, so that none keeps running unnoticed."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
