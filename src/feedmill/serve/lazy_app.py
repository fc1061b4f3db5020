"""ASGI apps that are imported and built with their first request, to save memory.

FastAPI, pydantic and the models of our API take a quarter of a server's memory, the pages a tenth.
"""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.optional_imports import import_by_name


class LazyApp:
    """An ASGI app that calls `creator` (`module:function`) in a thread when the first request comes."""

    def __init__(self, creator: str, *arguments: Any) -> None:
        self._creator, self._arguments = creator, arguments
        self._app: ASGIApp | None = None
        self._building = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await self.built()
        await app(scope, receive, send)

    async def built(self) -> ASGIApp:
        """The app, which is built now if it was not yet."""
        async with self._building:
            if self._app is None:
                self._app = await asyncio.to_thread(self._build)
        return self._app

    def _build(self) -> ASGIApp:
        app: ASGIApp = import_by_name(self._creator)(*self._arguments)
        return app
