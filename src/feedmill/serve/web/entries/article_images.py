"""`/item/n/image`: serves an image of an article that is not archived; the server fetches it when it is viewed.

The address is signed, so that only images of our own pages are fetched. A failure is answered with the placeholder
that a script shows in place of the image.
"""

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.html.hide_remote_images import MAX_URL_LENGTH, image_placeholder
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import Translator, translator
from feedmill.library.archive.archived_images import image_url
from feedmill.library.archive.view_images import StoredKey
from feedmill.model.image import DownloadedImage, ImageDownloadFailed
from feedmill.serve.http.cache_headers import NO_STORE
from feedmill.serve.http.security_headers import INERT_HEADERS
from feedmill.serve.http.signing_key import signing_key
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.localization import language_of
from feedmill.serve.web.core.path_ids import path_id

A_DAY = {"Cache-Control": "private, max-age=86400"}
# The script requests the reason again, and the page may soon be reloaded.
A_MINUTE = {"Cache-Control": "private, max-age=60"}
RETRY_SECONDS = 3
# Images are compressed already; this keeps the middleware from doing it again.
UNCOMPRESSED = {"Content-Encoding": "identity"}
GONE_STATUSES = frozenset({404, 410})


def image_path(request: Request, entry_id: int, url: str) -> str:
    """Our own URL that loads an image of the entry."""
    return f"/item/{entry_id}/image?{signed_query(request, entry_id, url)}"


async def show_image(request: Request) -> Response:
    caller = await signed_in(request)
    app, entry_id, url = the_app(request), path_id(request), request.query_params.get("url", "")
    check_signature(request, entry_id, url)
    match await app.image_viewer.view(caller.user.id, entry_id, url):
        case StoredKey(key):
            return RedirectResponse(await image_url(app.blobs, key), 303, NO_STORE)
        case DownloadedImage(type=type, body=body):
            return Response(body, headers=INERT_HEADERS | A_DAY | UNCOMPRESSED, media_type=type.content_type)
        case ImageDownloadFailed(reason=reason):
            t = translator(language_of(request))
            shown = image_placeholder(url, "", failure_text(reason, t), t)
            return HTMLResponse(shown, 404, INERT_HEADERS | A_MINUTE)
    return Response(status_code=503, headers=INERT_HEADERS | NO_STORE | {"Retry-After": str(RETRY_SECONDS)})


def failure_text(reason: Message, t: Translator) -> str:
    """The text that says why an image is not shown."""
    if reason.code == "fetch.status" and reason.values.get("status") in GONE_STATUSES:
        return t("article.image_gone")
    return t("article.image_failed_because", reason=t.render(reason))


def check_signature(request: Request, entry_id: int, url: str) -> None:
    """Raises `NotFound` unless the address of the request is one that a page of ours has for this entry and URL."""
    sent = request.query_params.get("signature", "").encode("utf-8", "replace")
    if len(url) > MAX_URL_LENGTH or not hmac.compare_digest(sent, _signature(request, entry_id, url).encode()):
        raise NotFound(Message("error.no_such_page"))


def signed_query(request: Request, entry_id: int, url: str) -> str:
    """The part of an address that names a URL of an entry, and says that we wrote it."""
    return urlencode({"url": url, "signature": _signature(request, entry_id, url)})


def _signature(request: Request, entry_id: int, url: str) -> str:
    key = signing_key(the_app(request).settings).encode()
    digest = hmac.new(key, f"article image {entry_id} {url}".encode("utf-8", "replace"), sha256).digest()
    return urlsafe_b64encode(digest[:18]).decode()


routes = [Route("/item/{id:int}/image", show_image)]
