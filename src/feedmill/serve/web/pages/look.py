"""`/look`: theme, language and typography of this device."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.flash import say
from feedmill.serve.web.look import keep_look, look_of
from feedmill.serve.web.page import form, go, show, signed_in
from feedmill.serve.web.places import local


async def ask(request: Request) -> Response:
    await signed_in(request)
    return await show(request, "look.html")


async def change(request: Request) -> Response:
    await signed_in(request)
    sent = await form(request)
    wishes = {name: value for name, value in sent.items() if isinstance(value, str)}
    response = go(local(sent.get("next"), "/look"), None if sent.get("quiet") else say("look.kept"))
    keep_look(request, response, look_of(request).changed(wishes))
    return response


routes = [Route("/look", ask, methods=["GET"]), Route("/look", change, methods=["POST"])]
