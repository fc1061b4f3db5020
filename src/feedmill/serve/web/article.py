"""An article for the templates: its text made safe and without strangers' pictures, and what belongs to it."""

import json
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.requests import Request

from feedmill.errors import NotFound
from feedmill.library.images import image_urls
from feedmill.library.reading import Listed, listed
from feedmill.library.render import render as render_html
from feedmill.serve.web.absent import Hiding
from feedmill.serve.web.look import language_of
from feedmill.serve.web.page import the_app
from feedmill.serve.web.safety import ORIGINALS
from feedmill.serve.web.views import ViewAddress
from feedmill.serve.web.words import words
from feedmill.store.shown import whole_entry

WORDS_A_MINUTE = 230


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A file that comes with an article; `kind` is audio, video, image or file."""

    url: str
    kind: str
    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Article:
    """`hidden`: so many pictures have placeholders."""

    entry: Listed
    html: Markup
    hidden: int
    minutes: int
    enclosures: list[Enclosure]
    comments_url: str | None
    previous: str | None = None
    next: str | None = None


async def load_article(request: Request, user_id: int, entry_id: int, view: ViewAddress) -> Article:
    """`NotFound` when there is none for this user."""
    app = the_app(request)
    row = await whole_entry(app.db, user_id, entry_id)
    if row is None:
        raise NotFound("there is no such entry")
    [entry] = await listed(app.db, user_id, [entry_id])
    archived = (await image_urls(app.db, app.blobs, [entry_id]))[entry_id]
    html = render_html(row["full_html"] or row["content_html"] or row["summary"], row["base_url"], archived)
    hiding = Hiding(frozenset(archived.values()), words(language_of(request)))
    safe = html if request.scope.get(ORIGINALS) else hiding.hide(html)
    return Article(
        entry=entry,
        html=Markup(safe),  # noqa: S704 (sanitized by render)
        hidden=hiding.hidden,
        minutes=1,
        enclosures=[_enclosure(each) for each in json.loads(row["enclosures"] or "[]")],
        comments_url=row["comments_url"],
    )  # fmt: skip


def _enclosure(read: dict[str, Any]) -> Enclosure:
    kind = (read.get("type") or "").partition("/")[0]
    name = read["url"].partition("?")[0].rstrip("/").rpartition("/")[2] or read["url"]
    return Enclosure(read["url"], kind if kind in ("audio", "video", "image") else "file", name, read.get("length"))
