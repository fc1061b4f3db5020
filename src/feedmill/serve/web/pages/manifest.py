"""`/manifest.webmanifest`: Feedmill as an app of the device."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from feedmill.serve.web.assets import asset_url
from feedmill.serve.web.look import language_of
from feedmill.serve.web.words import words

SHORTCUTS = (("/unread", "frame.unread"), ("/starred", "frame.starred"), ("/later", "frame.later"))


async def manifest(request: Request) -> Response:
    t = words(language_of(request))
    body = {
        "id": "/",
        "name": "Feedmill",
        "short_name": "Feedmill",
        "description": t("frame.description"),
        "lang": t.tag,
        "start_url": "/unread",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f5f4f0",
        "theme_color": "#0e6b62",
        "icons": [
            {"src": asset_url("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
            {"src": asset_url("icon-192.png"), "sizes": "192x192", "type": "image/png"},
            {"src": asset_url("icon-512.png"), "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
        ],
        "shortcuts": [{"name": t(key), "url": path} for path, key in SHORTCUTS],
        "share_target": {"action": "/subscribe", "method": "GET", "params": {"text": "text", "url": "url"}},
    }
    return JSONResponse(body, media_type="application/manifest+json")


routes = [Route("/manifest.webmanifest", manifest)]
