"""`GET /app-images/…`: serves archived images to reader apps, which have no session.

The address names the app password for which it was made and is signed, so it works without a cookie, shows nothing
else, and ends when that password is revoked.
"""

import hmac
from hashlib import sha256
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.archive.object_keys import IMAGES_PREFIX, public_image_url
from feedmill.library.entries.sync_entries import ImageUrl
from feedmill.library.users.app_passwords import caller_of_password_id
from feedmill.serve.http.archived_images import serve_image_to
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.cache_headers import NO_STORE
from feedmill.serve.http.security_headers import INERT_HEADERS
from feedmill.serve.http.signing_key import signing_key
from feedmill.settings import Settings

SIGNATURE_LENGTH = 24


def image_urls_for(request: Request, password_id: int) -> ImageUrl:
    """Makes the addresses of archived images for the app that signed in with this password."""
    app: App = request.app.state.app
    site = site_of(request)

    def image_url(key: str) -> str:
        if public := public_image_url(app.settings.images_base_url, key):
            return public
        path = key.removeprefix(IMAGES_PREFIX)
        return f"{site}/app-images/{password_id}/{_signature(app.settings, password_id, path)}/{quote(path)}"

    return image_url


def site_of(request: Request) -> str:
    """The address of this server as apps reach it, without a slash at the end."""
    app: App = request.app.state.app
    return (app.settings.public_url or str(request.base_url)).rstrip("/")


async def serve_app_image(request: Request) -> Response:
    app: App = request.app.state.app
    password_id, path = request.path_params["password_id"], request.path_params["path"]
    expected = _signature(app.settings, password_id, path)
    sent = request.path_params["signature"].encode("utf-8", "replace")
    if not hmac.compare_digest(sent, expected.encode()):
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    origin, now = origin_of(request), app.tools.clock()
    who = await caller_of_password_id(app.db, password_id, origin, now, reads_lists=False)
    if who is None:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    return await serve_image_to(request, who.user.id)


def _signature(settings: Settings, password_id: int, path: str) -> str:
    named = f"app image {password_id} {path}".encode("utf-8", "replace")
    return hmac.new(signing_key(settings).encode(), named, sha256).hexdigest()[:SIGNATURE_LENGTH]


routes = [Route("/app-images/{password_id:int}/{signature}/{path:path}", serve_app_image)]
