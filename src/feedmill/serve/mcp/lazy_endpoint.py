"""`/mcp` without its library: it is imported with the first request, and may not be installed."""

import asyncio

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.app import App
from feedmill.library.jobs.job_port import JobPort
from feedmill.optional_imports import MissingExtra, import_by_name, is_installed
from feedmill.serve.http.problem_json import problem_response
from feedmill.settings import Settings

MCP_PATH = "/mcp"
PACKAGE = "mcp"
CREATE_ENDPOINT = "feedmill.serve.mcp.endpoint:create_endpoint"


class LazyMcp:
    """An ASGI app that builds the endpoint in a thread when the first request comes."""

    def __init__(self, app: App, jobs: JobPort) -> None:
        self._app, self._jobs = app, jobs
        self._endpoint: ASGIApp | None = None
        self._building = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            endpoint = self._endpoint or await self._built()
        except MissingExtra as error:
            await problem_response(404, "mcp_not_installed", str(error))(scope, receive, send)
            return
        await endpoint(scope, receive, send)

    async def _built(self) -> ASGIApp:
        async with self._building:
            if self._endpoint is None:
                self._endpoint = await asyncio.to_thread(self._build)
        return self._endpoint

    def _build(self) -> ASGIApp:
        endpoint: ASGIApp = import_by_name(CREATE_ENDPOINT)(self._app, self._jobs)
        return endpoint


def mcp_routes(app: App, jobs: JobPort) -> list[Route]:
    """The routes of the MCP server; none if the setting `mcp` turns it off."""
    if not app.settings.mcp:
        return []
    endpoint = LazyMcp(app, jobs)
    return [Route(MCP_PATH, endpoint), Route(f"{MCP_PATH}/", endpoint)]


def offers_mcp(settings: Settings) -> bool:
    """Whether assistants can connect: it is turned on and installed."""
    return settings.mcp and is_installed(PACKAGE)
