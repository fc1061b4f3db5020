"""A way for commands to run asynchronous work in a world built from the settings."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from feedmill.app import App, build
from feedmill.settings import Settings

Result = TypeVar("Result")


def run(settings: Settings, work: Callable[[App], Awaitable[Result]]) -> Result:
    """Builds the world, does `work` in it and closes it again."""

    async def in_app() -> Result:
        async with build(settings) as app:
            return await work(app)

    return asyncio.run(in_app())
