"""An article for the templates: its safe text without strangers' pictures, and the ones beside it in its list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request

from feedmill.errors import NotFound
from feedmill.library.article import Article, Enclosure, read_article
from feedmill.library.images import image_urls
from feedmill.serve.web.absent import Hiding
from feedmill.serve.web.filters import filter_of
from feedmill.serve.web.look import language_of
from feedmill.serve.web.page import midnight, the_app
from feedmill.serve.web.safety import ORIGINALS
from feedmill.serve.web.views import HOME, Opened, ViewAddress, open_view
from feedmill.serve.web.words import words
from feedmill.store.database import Row
from feedmill.store.labels import labels_of

PLAYED = ("audio", "video")


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that comes with an article; `kind` is audio, video or file."""

    url: str
    kind: str
    name: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """An article in a view.

    `hidden`: so many of its pictures have placeholders. `is_full`: this is the text of the page that it links to.
    `labels` are all of the reader's.
    """

    entry: Article
    view: ViewAddress
    html: Markup
    hidden: int
    is_full: bool
    attached: list[Attached]
    labels: list[Row]

    @property
    def previous(self) -> str | None:
        return self._item(self.entry.previous_id)

    @property
    def next(self) -> str | None:
        return self._item(self.entry.next_id)

    def _item(self, id: int | None) -> str | None:
        return None if id is None else item_path(id, self.view)


def item_path(entry_id: int, view: ViewAddress) -> str:
    """The address of an article that is read in a view."""
    return f"/item/{entry_id}?in={quote(view.path)}"


async def load_article(request: Request, user_id: int, entry_id: int, view: ViewAddress) -> Shown:
    """The article with its neighbours in the view; `NotFound` when there is none for this user.

    The whole text is shown where it was fetched, unless the address says `text=feed`.
    """
    app = the_app(request)
    opened = await _opened(request, user_id, view)
    within = opened.wanted(filter_of(request, opened.address.name, opened.address.usual))
    article = await read_article(app.db, app.blobs, user_id, entry_id, datetime.now(UTC), within=within)
    return await shown(request, article, opened.address, await labels_of(app.db, user_id))


async def _opened(request: Request, user_id: int, view: ViewAddress) -> Opened:
    """An article outlives the view that it was found in: then it is read among what is unread."""
    try:
        return await open_view(the_app(request).db, user_id, view, midnight(request))
    except NotFound:
        return Opened(HOME)


async def shown(request: Request, article: Article, view: ViewAddress, labels: Sequence[Row] = ()) -> Shown:
    app = the_app(request)
    kept = (await image_urls(app.db, app.blobs, [article.id]))[article.id]
    hiding = Hiding(frozenset(kept.values()), words(language_of(request)))
    full_html = None if request.query_params.get("text") == "feed" else article.full_html
    html = full_html or article.html
    safe = html if request.scope.get(ORIGINALS) else hiding.hide(html)
    attached = [_attached(each) for each in article.enclosures]
    return Shown(
        entry=article,
        view=view,
        html=Markup(safe),  # noqa: S704 (the library made it safe)
        hidden=hiding.hidden,
        is_full=full_html is not None,
        attached=attached,
        labels=list(labels),
    )


def _attached(file: Enclosure) -> Attached:
    kind = (file.type or "").partition("/")[0]
    name = file.url.partition("?")[0].rstrip("/").rpartition("/")[2] or file.url
    return Attached(file.url, kind if kind in PLAYED else "file", name, file.length)
