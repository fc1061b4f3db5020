"""`/mcp` without its library: it is imported with the first request, and may not be installed."""

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from feedmill.app import App
from feedmill.library.jobs.job_port import JobPort
from feedmill.optional_imports import MissingExtra, is_installed
from feedmill.serve.http.problem_json import problem_response
from feedmill.serve.lazy_app import LazyApp
from feedmill.settings import Settings

MCP_PATH = "/mcp"
PACKAGE = "mcp"
CREATE_ENDPOINT = "feedmill.serve.mcp.endpoint:create_endpoint"


class LazyMcp(LazyApp):
    """Answers that it is not installed if its library is missing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.built()
        except MissingExtra as error:
            await problem_response(404, "mcp_not_installed", str(error))(scope, receive, send)
            return
        await super().__call__(scope, receive, send)


def mcp_routes(app: App, jobs: JobPort) -> list[Route]:
    """The routes of the MCP server; none if the setting `mcp` turns it off."""
    if not app.settings.mcp:
        return []
    endpoint = LazyMcp(CREATE_ENDPOINT, app, jobs)
    return [Route(MCP_PATH, endpoint), Route(f"{MCP_PATH}/", endpoint)]


def offers_mcp(settings: Settings) -> bool:
    """Whether assistants can connect: it is turned on and installed."""
    return settings.mcp and is_installed(PACKAGE)
