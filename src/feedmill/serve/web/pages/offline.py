"""`/worker.js`, which runs beside the pages in the browser, and `/offline`, which it shows without a connection.

Both are the same for everybody and know nobody: what a reader opened is kept by the worker alone, until they sign out.
"""

import json

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.assets import ASSETS, STYLE, TYPES, VERSION, asset_url
from feedmill.serve.web.page import show

SCRIPTS = tuple(name for name in ASSETS if name.startswith(("js/", "vendor/")) and name.endswith(".js"))
SHELL = ["/offline", *(asset_url(name) for name in (STYLE, *SCRIPTS, "icon.svg"))]
WORKER = f"const VERSION = {json.dumps(VERSION)}, SHELL = {json.dumps(SHELL)};\n".encode() + ASSETS["worker.js"].body


async def worker(request: Request) -> Response:
    return Response(WORKER, headers={"Cache-Control": "no-cache"}, media_type=TYPES["js"])


async def offline(request: Request) -> Response:
    return await show(request, "offline.html")


routes = [Route("/worker.js", worker), Route("/offline", offline)]
