"""`/v1/enclosures`: the files of entries, and how far the user has played them."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.playback import save_position
from feedmill.model.playback import MAX_SECONDS, PlaybackPosition
from feedmill.model.user import Caller
from feedmill.serve.miniflux.entry_shapes import enclosure_shape, find_rendered, parse_enclosure_id, read_seconds
from feedmill.serve.miniflux.read_body import read_body
from feedmill.serve.miniflux.responses import done, json_response


class EnclosureBody(msgspec.Struct):
    media_progression: int


async def read_enclosure(request: Request, who: Caller) -> Response:
    entry_id, place = parse_enclosure_id(request.path_params["enclosure_id"])
    entry = await find_rendered(request, who, entry_id)
    if place >= len(entry.enclosures):
        raise NotFound(Message("error.no_such_enclosure"))
    seconds = await read_seconds(request, who, [entry])
    return json_response(enclosure_shape(who.user.id, entry, place, seconds))


async def update_enclosure(request: Request, who: Caller) -> Response:
    """Saves how far it was played, in seconds; the player of the pages goes on from there."""
    app: App = request.app.state.app
    body = await read_body(request, EnclosureBody)
    if not 0 <= body.media_progression <= MAX_SECONDS:
        raise BadInput(Message("error.not_a_number", name="media_progression"), field="media_progression")
    entry_id, place = parse_enclosure_id(request.path_params["enclosure_id"])
    now = app.tools.clock()
    position = PlaybackPosition(entry_id, place, body.media_progression, now)
    await save_position(app.db, who.user.id, position, now)
    return done()
