"""The MCP server on standard input and output, for one user of this installation."""

from collections.abc import Awaitable, Callable

from mcp.server.stdio import stdio_server

from feedmill.app import App
from feedmill.model.user import Caller
from feedmill.serve.mcp.server import create_server


async def serve_stdio(app: App, find_caller: Callable[[], Awaitable[Caller]]) -> None:
    """Answers requests until standard input ends; `find_caller` is asked with each request."""

    async def caller_now(_: object) -> Caller:
        return await find_caller()

    server = create_server(app, None, caller_now)
    async with stdio_server() as (requests, responses):
        await server.run(requests, responses, server.create_initialization_options())
