"""Finds the caller of the Miniflux API by `X-Auth-Token` or HTTP Basic; both carry an app password."""

from base64 import b64decode
from binascii import Error as NotBase64

from starlette.requests import Request

from feedmill.app import App
from feedmill.errors import NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.library.users.app_passwords import caller_of_app_token, sign_in_app
from feedmill.model.user import Caller
from feedmill.serve.http.auth import origin_of

BASIC = "basic "


async def caller_of_app(request: Request) -> Caller:
    """The caller; raises `NotSignedIn`, or `LimitExceeded` after many failures."""
    app: App = request.app.state.app
    now, origin = app.tools.clock(), origin_of(request)
    token = request.headers.get("x-auth-token", "").strip()
    if token:
        return await caller_of_app_token(app.db, token, origin, now)
    header = request.headers.get("authorization", "")
    if header.lower().startswith(BASIC):
        name, password = _credentials(header[len(BASIC) :])
        return await sign_in_app(app.db, name, password, origin, now)
    raise NotSignedIn(Message("error.app_not_signed_in"))


def _credentials(encoded: str) -> tuple[str, str]:
    try:
        name, _, password = b64decode(encoded.strip(), validate=True).decode("utf-8", "replace").partition(":")
    except (NotBase64, ValueError):
        return "", ""
    return name, password
