"""Every page, screen by screen."""

from feedmill.serve.web import assets
from feedmill.serve.web.pages import (
    article,
    full_text,
    home,
    keys,
    labels,
    lists,
    look,
    manifest,
    marks,
    setup,
    sign_in,
)

ROUTES = [
    *assets.routes,
    *manifest.routes,
    *home.routes,
    *setup.routes,
    *sign_in.routes,
    *lists.routes,
    *article.routes,
    *full_text.routes,
    *labels.routes,
    *marks.routes,
    *look.routes,
    *keys.routes,
]
