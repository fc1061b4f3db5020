"""Adds security headers to all pages: Content-Security-Policy and others."""

from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from feedmill.adapters.object_store import object_store_config
from feedmill.archive.object_store_config import S3Config
from feedmill.settings import Settings

ALLOW_REMOTE_IMAGES = "feedmill.originals"
"""Set in a request's scope if the user asked to load images from their original sites."""

# Media may come from anywhere, because they are only loaded when the user presses play (preload="none"). The one page
# of ours that may be in a frame is the player of a video: all others forbid it (frame-ancestors).
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{images}; "
    "media-src 'self' https: http:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# Not no-referrer: browsers would then send "null" as the origin of our own forms. Other sites get nothing either way.
COMMON_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
}
# For files from elsewhere: nothing in them runs, and they are not taken for another type.
INERT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


def image_origin(settings: Settings) -> str:
    """The origin from which browsers load archived images, if it is not this server."""
    if settings.images_base_url:
        url = urlsplit(settings.images_base_url)
        return f"{url.scheme}://{url.netloc}"
    config = object_store_config(settings)
    if not isinstance(config, S3Config) or not (config.public_url or config.direct):
        return ""
    url = urlsplit(config.public_url or config.endpoint or f"https://*.s3.{config.region}.amazonaws.com")
    if config.public_url or config.path_style:
        return f"{url.scheme}://{url.netloc}"
    return f"{url.scheme}://{config.bucket}.{url.netloc}"


STRICT_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY.format(images=""),
    "Cache-Control": "no-store",
    **COMMON_HEADERS,
}
"""The headers of a page without images of an object store; for responses outside of `SecurityHeaders`."""


class SecurityHeaders:
    """ASGI middleware that adds the headers to all responses of the pages, unless a response sets its own."""

    def __init__(self, app: ASGIApp, images: str = "") -> None:
        self._app = app
        self._strict = CONTENT_SECURITY_POLICY.format(images=f" {images}" if images else "")
        self._with_remote_images = CONTENT_SECURITY_POLICY.format(images=" https: http:")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(MutableHeaders(scope=message), scope)
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _add(self, headers: MutableHeaders, scope: Scope) -> None:
        policy = self._with_remote_images if scope.get(ALLOW_REMOTE_IMAGES) else self._strict
        for name, value in (STRICT_HEADERS | {"Content-Security-Policy": policy}).items():
            headers.setdefault(name, value)
