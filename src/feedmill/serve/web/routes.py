"""Every page, screen by screen."""

from feedmill.serve.web import assets
from feedmill.serve.web.pages import (
    archive,
    archive_answer,
    archives,
    article,
    full_text,
    health,
    home,
    keys,
    labels,
    lists,
    look,
    manifest,
    marks,
    reparse,
    setup,
    sign_in,
    survey,
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
    *health.routes,
    *survey.routes,
    *archive.routes,
    *reparse.routes,
    *archive_answer.routes,
    *archives.routes,
]
