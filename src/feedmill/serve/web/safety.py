"""The headers that every page carries: nothing runs but our own files, nothing is asked of third parties."""

from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from feedmill.app import objects_place
from feedmill.archive.location import S3Config
from feedmill.settings import Settings

ORIGINALS = "feedmill.originals"
"""Set in a request's scope where the reader asked for images from their own sites."""

# Media may come from anywhere, because they are only asked for when somebody presses play (preload="none").
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{images}; "
    "media-src 'self' https: http:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# Not no-referrer: browsers would then call the origin of our own forms "null". Others learn nothing either way.
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
}


def origin_of_images(settings: Settings) -> str:
    """The origin that browsers load archived images from, when that is not this server."""
    place = objects_place(settings)
    if not isinstance(place, S3Config) or not (place.public_url or place.direct):
        return ""
    url = urlsplit(place.public_url or place.endpoint or f"https://*.s3.{place.region}.amazonaws.com")
    if place.public_url or place.path_style:
        return f"{url.scheme}://{url.netloc}"
    return f"{url.scheme}://{place.bucket}.{url.netloc}"


STRICT = {"Content-Security-Policy": POLICY.format(images=""), "Cache-Control": "no-store", **ALWAYS}
"""The headers of a page without pictures of an object store; for what is answered outside of `SafetyHeaders`."""


class SafetyHeaders:
    """Adds the headers to whatever the pages answer, unless an answer has stricter ones of its own."""

    def __init__(self, app: ASGIApp, images: str = "") -> None:
        self._app = app
        self._strict = POLICY.format(images=f" {images}" if images else "")
        self._with_originals = POLICY.format(images=" https: http:")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(MutableHeaders(scope=message), scope)
            await send(message)

        await self._app(scope, receive, send_safely)

    def _add(self, headers: MutableHeaders, scope: Scope) -> None:
        policy = self._with_originals if scope.get(ORIGINALS) else self._strict
        for name, value in (STRICT | {"Content-Security-Policy": policy}).items():
            headers.setdefault(name, value)
