"""Signs in apps of the Google Reader API (`/accounts/ClientLogin`) and finds the caller of their requests.

The token that an app gets names its app password and is signed. It ends when that password is revoked.
"""

import hmac
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from feedmill.app import App
from feedmill.errors import NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.library.users.app_passwords import caller_of_password_id, sign_in_app
from feedmill.model.user import AppPassword, Caller
from feedmill.serve.greader.responses import NO_STORE, json_response
from feedmill.serve.http.app_parameters import MAX_UNKNOWN_BYTES, AppParameters, read_parameters
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.signing_key import signing_key
from feedmill.settings import Settings

SCHEME = "googlelogin auth="
SIGNATURE_LENGTH = 40


async def client_login(request: Request) -> Response:
    """`/accounts/ClientLogin`: `Email` and `Passwd`, by form or query."""
    app: App = request.app.state.app
    sent = await read_parameters(request, MAX_UNKNOWN_BYTES)
    who = await sign_in_app(app.db, sent.text("Email"), sent.text("Passwd"), origin_of(request), app.tools.clock())
    assert who.app_password is not None
    token = _token(app.settings, who.app_password)
    if sent.text("output") == "json":
        return json_response({"SID": token, "LSID": token, "Auth": token})
    return PlainTextResponse(f"SID={token}\nLSID=null\nAuth={token}\n", headers=NO_STORE)


async def edit_token(request: Request, who: Caller) -> Response:
    """`/reader/api/0/token`: a word that apps send with each change. The header proves who calls, so it may be any."""
    app: App = request.app.state.app
    assert who.app_password is not None
    return PlainTextResponse(_token(app.settings, who.app_password), headers=NO_STORE)


async def caller_with_parameters(request: Request) -> tuple[Caller, AppParameters]:
    """The caller and what they sent. Only little is read before it is known who calls."""
    if "authorization" in request.headers:
        return await caller_of_app(request), await read_parameters(request)
    sent = await read_parameters(request, MAX_UNKNOWN_BYTES)
    return await caller_of_app(request, sent), sent


async def caller_of_app(request: Request, sent: AppParameters | None = None) -> Caller:
    """The caller; raises `NotSignedIn`. Liferea sends the token as the parameter `T` alone for the texts of items."""
    app: App = request.app.state.app
    header = request.headers.get("authorization", "")
    token = header[len(SCHEME) :].strip() if header.lower().startswith(SCHEME) else ""
    if not header and sent is not None:
        token = sent.text("T").strip()
    password_id = _password_id(app.settings, token)
    who = None
    if password_id is not None:
        who = await caller_of_password_id(app.db, password_id, origin_of(request), app.tools.clock())
    if who is None:
        raise NotSignedIn(Message("error.app_not_signed_in"))
    return who


def _token(settings: Settings, password: AppPassword) -> str:
    return f"{password.id}/{_signature(settings, password.id)}"


def _password_id(settings: Settings, token: str) -> int | None:
    """The app password that a token names, if its signature is ours."""
    written, _, signature = token.partition("/")
    if not (written.isascii() and written.isdigit() and len(written) < 16):
        return None
    expected = _signature(settings, int(written)).encode()
    return int(written) if hmac.compare_digest(signature.encode("utf-8", "replace"), expected) else None


def _signature(settings: Settings, password_id: int) -> str:
    named = f"google reader {password_id}".encode()
    return hmac.new(signing_key(settings).encode(), named, sha256).hexdigest()[:SIGNATURE_LENGTH]
