"""`/settings/sessions`: where one is signed in, and signing out there."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.serve.web.agents import device
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, the_app
from feedmill.store import sessions

HERE = "/settings/sessions"


async def every(request: Request) -> Response:
    caller = await signed_in(request)
    found = await sessions.sessions_of(the_app(request).db, caller.user.id, datetime.now(UTC))
    return await show(
        request, "sessions.html", active="/settings", sessions=found, current=caller.session_id, device=device
    )


async def end(request: Request) -> Response:
    caller = await signed_in(request)
    await form(request)
    if not await sessions.end(the_app(request).db, caller.user.id, path_id(request)):
        raise NotFound("you have no such session")
    return go(HERE, say("settings.session_ended"))


async def end_others(request: Request) -> Response:
    caller = await signed_in(request)
    await form(request)
    await the_app(request).db.batch([sessions.end_others(caller.user.id, caller.session_id)])
    return go(HERE, say("settings.sessions_ended"))


routes = [
    Route(HERE, every),
    Route(f"{HERE}/end-others", end_others, methods=["POST"]),
    Route(f"{HERE}/{{id:int}}/end", end, methods=["POST"]),
]
