"""Progressive web app: the manifest, the service worker and the offline page.

They are the same for all users: opened articles are stored only by the service worker, until the user signs out.
"""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from feedmill.i18n.translator import translator
from feedmill.serve.web.core.assets import ASSETS, STYLESHEET, TYPES, VERSION, asset_url
from feedmill.serve.web.core.localization import language_of
from feedmill.serve.web.core.render_page import render_page

SHORTCUTS = (("/unread", "frame.unread"), ("/starred", "frame.starred"), ("/later", "frame.later"))

SCRIPTS = tuple(name for name in ASSETS if name.startswith(("js/", "vendor/")) and name.endswith(".js"))
SHELL = ["/offline", *(asset_url(name) for name in (STYLESHEET, *SCRIPTS, "icon.svg"))]
CONSTANTS = {"VERSION": VERSION, "SHELL": SHELL, "ICON": asset_url("icon-192.png")}
SERVICE_WORKER = (
    "".join(f"const {name} = {json.dumps(value)};\n" for name, value in CONSTANTS.items()).encode()
    + ASSETS["service_worker.js"].body
)


async def serve_service_worker(request: Request) -> Response:
    return Response(SERVICE_WORKER, headers={"Cache-Control": "no-cache"}, media_type=TYPES["js"])


async def show_offline(request: Request) -> Response:
    return await render_page(request, "core/offline.html")


async def serve_manifest(request: Request) -> Response:
    t = translator(language_of(request))
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


routes = [
    Route("/manifest.webmanifest", serve_manifest),
    Route("/worker.js", serve_service_worker),
    Route("/offline", show_offline),
]
