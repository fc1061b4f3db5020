"""Every page, screen by screen."""

from feedmill.serve.web import assets
from feedmill.serve.web.pages import home, keys, look, manifest, setup, sign_in

ROUTES = [
    *assets.routes,
    *manifest.routes,
    *home.routes,
    *setup.routes,
    *sign_in.routes,
    *look.routes,
    *keys.routes,
]
