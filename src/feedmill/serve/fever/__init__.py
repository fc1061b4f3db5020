"""The Fever API (version 3), which some reader apps speak; it translates to the library and decides nothing itself.

Apps send `api_key`, the digest of name and app password, and ask for sections by naming them. Every response is 200; a
caller who is not known gets `auth` 0 and nothing else.
"""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.errors import CallerError, NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.library.users.app_passwords import caller_of_fever_key
from feedmill.model.user import Caller
from feedmill.serve.fever.changes import apply_change
from feedmill.serve.fever.sections import SECTIONS, last_refresh
from feedmill.serve.http.app_parameters import MAX_UNKNOWN_BYTES, AppParameters, read_parameters
from feedmill.serve.http.auth import origin_of

VERSION = 3
PATHS = ("/fever", "/fever/", "/api/fever.php", "/api/fever.php/")
REFUSED = {"api_version": VERSION, "auth": 0}


async def answer(request: Request) -> Response:
    """The sections that the request names, after the change that it asks for."""
    try:
        sent = await read_parameters(request, MAX_UNKNOWN_BYTES)
        who = await _caller(request, sent)
    except CallerError:
        return _response(REFUSED)
    app: App = request.app.state.app
    body: dict[str, Any] = {"api_version": VERSION, "auth": 1, "last_refreshed_on_time": await last_refresh(app, who)}
    try:
        changed = await apply_change(app, who, sent)
        for name, section in SECTIONS.items():
            if name in sent or name == changed:
                body |= await section(request, who, sent)
    except CallerError as error:
        body["error"] = str(error)
    return _response(body)


async def _caller(request: Request, sent: AppParameters) -> Caller:
    app: App = request.app.state.app
    key = sent.text("api_key")
    if not key:
        raise NotSignedIn(Message("error.app_not_signed_in"))
    return await caller_of_fever_key(app.db, key, origin_of(request), app.tools.clock())


def _response(body: dict[str, Any]) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json", headers={"Cache-Control": "no-store"})


routes = [Route(path, answer, methods=["GET", "POST"]) for path in PATHS]
