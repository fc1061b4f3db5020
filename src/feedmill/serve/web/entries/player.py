"""`/player/site/id`: the player of a video site, for the frame that a script opens when a card is pressed.

The policy of this page allows one frame of one site; those of all other pages allow frames of this server only.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.html.players import MAX_START, named_player
from feedmill.i18n.messages import Message
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.render_page import render_template

POLICY = (
    "default-src 'none'; style-src 'self'; frame-src {origin}; frame-ancestors 'self'; form-action 'none'; "
    "base-uri 'none'"
)


async def show_player(request: Request) -> Response:
    await signed_in(request)
    player = named_player(request.path_params["site"], request.path_params["id"], _start(request))
    if player is None:
        raise NotFound(Message("error.no_such_page"))
    response = render_template(request, "entries/player.html", player=player)
    response.headers["Content-Security-Policy"] = POLICY.format(origin=player.frame_origin)
    return response


def _start(request: Request) -> int:
    text = request.query_params.get("start", "")
    return min(int(text), MAX_START) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


routes = [Route("/player/{site}/{id}", show_player)]
