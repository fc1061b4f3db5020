"""`/health-of-feeds`: which of a person's feeds want looking after."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.survey import survey
from feedmill.serve.web.page import show, signed_in, the_app


async def feeds(request: Request) -> Response:
    caller = await signed_in(request)
    found = await survey(the_app(request).db, caller.user.id, datetime.now(UTC))
    return await show(request, "survey.html", survey=found)


routes = [Route("/health-of-feeds", feeds)]
