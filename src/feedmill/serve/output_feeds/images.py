"""`GET /output-images/…`: serves archived images to whoever reads an output feed.

The address names the output feed for which it was made and is signed, so it works without a cookie, shows nothing
else, and ends when that feed is revoked.
"""

import hmac
from hashlib import sha256
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.archive.object_keys import IMAGES_PREFIX, public_image_url
from feedmill.library.entries.sync_entries import ImageUrl
from feedmill.library.output_feeds.manage_output_feeds import owner_of_output_feed
from feedmill.serve.http.archived_images import serve_image_to
from feedmill.serve.http.cache_headers import NO_STORE
from feedmill.serve.http.security_headers import INERT_HEADERS
from feedmill.serve.http.signing_key import signing_key
from feedmill.settings import Settings

SIGNATURE_LENGTH = 32


def image_urls_for_output_feed(settings: Settings, site: str, feed_id: int) -> ImageUrl:
    """Makes the addresses of archived images for the readers of this output feed."""

    def image_url(key: str) -> str:
        if public := public_image_url(settings.images_base_url, key):
            return public
        path = key.removeprefix(IMAGES_PREFIX)
        return f"{site}/output-images/{feed_id}/{_signature(settings, feed_id, path)}/{quote(path)}"

    return image_url


async def serve_output_image(request: Request) -> Response:
    app: App = request.app.state.app
    feed_id, path = request.path_params["feed_id"], request.path_params["path"]
    sent = request.path_params["signature"].encode("utf-8", "replace")
    if not hmac.compare_digest(sent, _signature(app.settings, feed_id, path).encode()):
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    owner = await owner_of_output_feed(app.db, feed_id, app.tools.clock())
    if owner is None:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    return await serve_image_to(request, owner.user.id)


def _signature(settings: Settings, feed_id: int, path: str) -> str:
    named = f"output feed image {feed_id} {path}".encode("utf-8", "replace")
    return hmac.new(signing_key(settings).encode(), named, sha256).hexdigest()[:SIGNATURE_LENGTH]
