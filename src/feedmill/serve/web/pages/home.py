"""`/`: straight to what is unread."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.page import go, signed_in


async def home(request: Request) -> Response:
    await signed_in(request)
    return go("/unread")


routes = [Route("/", home)]
