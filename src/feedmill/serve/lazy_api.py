"""Mounts the JSON API and builds it on its first request, to save memory.

FastAPI, pydantic and our models take a quarter of an idle server's memory. The pages need none of them.
"""

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.app import App
from feedmill.library.jobs.job_port import JobPort
from feedmill.optional_imports import import_by_name
from feedmill.serve.http.signing_key import signing_key

CREATE_API = "feedmill.serve.rest:create_api"


class LazyApi:
    """An ASGI app that builds the API in a thread when the first request comes."""

    def __init__(self, app: App, work: JobPort) -> None:
        # Now rather than when the first token is signed, so that a key file that can't be written is reported at start.
        signing_key(app.settings)
        self._app = app
        self._work = work
        self._api: ASGIApp | None = None
        self._building = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        api = self._api or await self._built()
        await api(scope, receive, send)

    async def _built(self) -> ASGIApp:
        async with self._building:
            if self._api is None:
                self._api = await asyncio.to_thread(self._build)
        return self._api

    def _build(self) -> ASGIApp:
        api: ASGIApp = import_by_name(CREATE_API)(self._app, self._work)
        return api
