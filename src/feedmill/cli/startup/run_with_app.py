"""Runs a command's coroutine with the whole app."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from feedmill.app import App, build_app
from feedmill.settings import Settings

Result = TypeVar("Result")


def run_with_app(settings: Settings, work: Callable[[App], Awaitable[Result]]) -> Result:
    """Builds the app, runs `work` with it and closes it."""

    async def in_app() -> Result:
        async with build_app(settings) as app:
            return await work(app)

    return asyncio.run(in_app())
