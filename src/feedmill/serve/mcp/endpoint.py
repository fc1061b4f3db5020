"""`/mcp`: the MCP server over streamable HTTP, for callers with an API key.

Each request stands for itself, so any process of a scaled-out installation can answer it.
"""

from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.app import App
from feedmill.errors import InfrastructureError, NotAllowed, NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.jobs.job_port import JobPort
from feedmill.model.user import Caller
from feedmill.serve.http import csrf
from feedmill.serve.http.auth import caller_of, has_bearer_token
from feedmill.serve.http.body_limits import MAX_JSON_BYTES
from feedmill.serve.http.problem_json import problem_response
from feedmill.serve.http.rate_limits import RateLimit
from feedmill.serve.mcp.server import create_server

log = get_logger(__name__)

# Where the caller of a request is kept, which is looked up once.
CALLER = "feedmill.mcp_caller"


def create_endpoint(app: App, jobs: JobPort) -> ASGIApp:
    return RateLimit(McpEndpoint(app, jobs), per_minute=app.settings.api_per_minute)


class McpEndpoint:
    """An ASGI app that checks where a request comes from and whose key it has, and passes it on to the server."""

    def __init__(self, app: App, jobs: JobPort) -> None:
        self._server = create_server(app, jobs, _caller_of_request)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        refusal = await _refuse(request)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        # One for each request: it ends with it, and leaves nothing to another process.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=MAX_JSON_BYTES
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)


async def _refuse(request: Request) -> Response | None:
    """The response to a request that does not reach the server; None if it may."""
    try:
        # A page of another site can't use us, also not after DNS rebinding (see `AllowedHosts`).
        csrf.refuse_other_sites(request)
        who = await caller_of(request) if has_bearer_token(request) else None
    except NotAllowed as error:
        return problem_response(403, error.code, str(error))
    except InfrastructureError as error:
        log.error("mcp_request_failed", reason=str(error))
        return problem_response(503, "not_available", "the database does not answer now; try again")
    if who is None:
        missing = NotSignedIn(Message("error.not_signed_in"))
        return problem_response(401, missing.code, str(missing), headers={"WWW-Authenticate": "Bearer"})
    if request.method != "POST":
        # There are no sessions to end, and no messages that wait.
        return problem_response(405, "method_not_allowed", "send POST", headers={"Allow": "POST"})
    request.scope[CALLER] = who
    return None


async def _caller_of_request(request: Any) -> Caller:
    caller: Caller = request.scope[CALLER]
    return caller
