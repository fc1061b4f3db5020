"""`/static/{hash}/…`: serves style sheet, scripts and icons from memory with a versioned URL.

The hash is of all files together, so relative URLs between them work and one change renews all. The styles are joined
into one file, which compresses better and needs one request. So are htmx and its extension: htmx processes the page in
a timer that its script starts, and would miss an extension whose file arrives later. Each script of ours that a page
names is sent with the modules that it imports, as one file. Comments are not sent.
"""

import gzip
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.core.script_bundle import bundle, code_lines

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
}
STYLESHEET = "feedmill.css"
HTMX = "vendor/htmx.js"
WORKER = "service_worker.js"
HTMX_PARTS = ("vendor/htmx.min.js", "vendor/hx-sse.min.js")
# What pages load: all pages with a frame, the first one of an installation, and the one without a connection.
PAGE_SCRIPTS = ("app", "busy_forms", "offline")
SHARED_STYLES = ("base", "controls", "frame", "list", "article", "shared")
STYLE_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
CACHE_FOREVER = "public, max-age=31536000, immutable"
CACHE_BRIEFLY = "public, max-age=60"


@dataclass(frozen=True, slots=True)
class Asset:
    content_type: str
    body: bytes
    gzipped: bytes


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _walk(item, f"{prefix}{item.name}/")
        elif item.name.rpartition(".")[2] in TYPES:
            yield prefix + item.name, item.read_bytes()


def _load() -> tuple[dict[str, Asset], str]:
    bodies = dict(_walk(files("feedmill.serve.web") / "static"))
    styles = b"\n".join(bodies.pop(name) for name in stylesheet_order(bodies))
    bodies[STYLESHEET] = STYLE_COMMENT.sub(b"", styles)
    bodies[HTMX] = b"\n".join(bodies.pop(name) for name in HTMX_PARTS)
    bodies = _with_bundles(bodies)
    digest = sha256(b"".join(name.encode() + b"\0" + body for name, body in bodies.items())).hexdigest()[:12]
    assets = {
        name: Asset(TYPES[name.rpartition(".")[2]], body, gzip.compress(body, 9, mtime=0))
        for name, body in bodies.items()
    }
    return assets, digest


def _with_bundles(bodies: dict[str, bytes]) -> dict[str, bytes]:
    modules = {name: body.decode() for name, body in bodies.items() if name.startswith("js/")}
    bundles = {f"js/{name}.js": bundle(name, lambda each: modules[f"js/{each}.js"]) for name in PAGE_SCRIPTS}
    bundles[WORKER] = "\n".join(code_lines(bodies[WORKER].decode()))
    others = {name: body for name, body in bodies.items() if name not in modules}
    return others | {name: script.encode() for name, script in bundles.items()}


def stylesheet_order(names: Iterable[str]) -> list[str]:
    """The style sheets in the order of the cascade: shared ones first, then those of single screens."""
    shared = [f"css/{name}.css" for name in SHARED_STYLES]
    return [*shared, *sorted(name for name in names if name.endswith(".css") and name not in shared)]


ASSETS, VERSION = _load()


def asset_url(name: str) -> str:
    """The URL of a file of `static/`; raises `LookupError` for an unknown name."""
    if name not in ASSETS:
        raise LookupError(f"there is no static file {name!r}")
    return f"/static/{VERSION}/{name}"


async def serve_static_file(request: Request) -> Response:
    asset = ASSETS.get(request.path_params["name"])
    if asset is None:
        return Response(status_code=404)
    # A page from before an upgrade gets the current file, cached only briefly.
    is_current = request.path_params["version"] == VERSION
    headers = {"Cache-Control": CACHE_FOREVER if is_current else CACHE_BRIEFLY, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.gzipped, 200, headers | {"Content-Encoding": "gzip"}, asset.content_type)
    return Response(asset.body, 200, headers, asset.content_type)


async def favicon(request: Request) -> Response:
    return Response(ASSETS["icon.svg"].body, 200, {"Cache-Control": CACHE_BRIEFLY}, TYPES["svg"])


routes = [Route("/static/{version}/{name:path}", serve_static_file), Route("/favicon.ico", favicon)]
