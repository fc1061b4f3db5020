"""Output feeds under their secret addresses: `/output-feeds/SECRET/atom.xml` and `/output-feeds/SECRET/feed.json`.

Whoever knows an address reads the list of its owner; no cookie or key counts here. A guessed address is 404 like any
that leads nowhere, and counted.
"""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route

from feedmill.app import App
from feedmill.library.output_feeds.addresses import MOUNT_PATH
from feedmill.serve.http.rate_limits import RateLimit
from feedmill.serve.output_feeds.images import serve_output_image
from feedmill.serve.output_feeds.serve_feed import serve_output_feed


def mount_output_feeds(app: App) -> Mount:
    """The routes, with the limit of requests that the API has."""
    feeds = Starlette(
        routes=[Route("/{secret}/{file}", serve_output_feed)],
        middleware=[
            Middleware(RateLimit, per_minute=app.settings.api_per_minute),
            Middleware(GZipMiddleware, minimum_size=600, compresslevel=4),
        ],
    )
    feeds.router.redirect_slashes = False
    feeds.state.app = app
    return Mount(MOUNT_PATH, feeds)


image_routes = [Route("/output-images/{feed_id:int}/{signature}/{path:path}", serve_output_image)]
