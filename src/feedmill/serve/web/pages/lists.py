"""The lists: `/unread`, `/today`, `/all`, `/starred`, `/later`, `/history`, `/folder/n`, `/feed/n`, `/label/n`."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.article import read_article
from feedmill.library.cursors import from_cursor
from feedmill.library.images import image_urls
from feedmill.library.reading import Listed, Page, list_entries
from feedmill.model.account import User
from feedmill.serve.web.article import Shown, item_path, shown
from feedmill.serve.web.filters import Filter, filter_of, keep_filter
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.look import look_of
from feedmill.serve.web.page import midnight, render, show, signed_in, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.views import NAMED, SCOPED, Opened, ViewAddress, open_view

LONGEST_CURSOR = 200
ROWS = 50
FULL_TEXTS = 12


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a view, for the template."""

    view: Opened
    chosen: Filter
    page: Page
    pictures: dict[int, str]
    texts: dict[int, Shown]
    is_first: bool

    @property
    def items(self) -> list[Listed]:
        return self.page.items

    @property
    def more(self) -> str | None:
        """The address of the next page."""
        return self.at(cursor=self.page.next) if self.page.next else None

    def at(self, **changes: str) -> str:
        """The address of this view with some of its filter changed."""
        asked = {"show": self.chosen.show, "order": str(self.chosen.order)} | changes
        return f"{self.view.address.path}?{urlencode(asked)}"

    def item(self, entry: Listed) -> str:
        return item_path(entry.id, self.view.address)


async def of_name(request: Request) -> Response:
    return await _list(request, ViewAddress(request.url.path.removeprefix("/")))


async def of_id(request: Request) -> Response:
    return await _list(request, ViewAddress(request.url.path.split("/")[1], path_id(request)))


async def _list(request: Request, address: ViewAddress) -> Response:
    caller = await signed_in(request)
    listing = await _load(request, caller.user, address)
    if is_partial(request):
        return render(request, "parts/more_rows.html", listing=listing)
    response = await show(request, "list.html", listing=listing, active=address.path)
    keep_filter(request, response, address.name, listing.chosen)
    return response


async def _load(request: Request, user: User, address: ViewAddress) -> Listing:
    app = the_app(request)
    opened = await open_view(app.db, user.id, address, midnight(request))
    chosen = filter_of(request, address.name, address.usual)
    cursor, density = request.query_params.get("cursor", "")[:LONGEST_CURSOR], look_of(request).density
    beyond = from_cursor(cursor) if cursor else None
    wanted = replace(opened.wanted(chosen), beyond=beyond, most=FULL_TEXTS if density == "full" else ROWS)
    page = await list_entries(app.db, user.id, wanted, datetime.now(UTC))
    pictures = await _pictures(request, page.items) if density == "cards" else {}
    texts = await _texts(request, user, page.items, address) if density == "full" else {}
    return Listing(opened, chosen, page, pictures, texts, not cursor)


async def _texts(request: Request, user: User, items: list[Listed], view: ViewAddress) -> dict[int, Shown]:
    """By entry its article, for the density that shows all of it."""
    app, now = the_app(request), datetime.now(UTC)
    articles = [await read_article(app.db, app.blobs, user.id, item.id, now) for item in items]
    return {article.id: await shown(request, article, view) for article in articles}


async def _pictures(request: Request, items: list[Listed]) -> dict[int, str]:
    """By entry a picture of it that is archived: the one it names for that, else the first."""
    app = the_app(request)
    kept = await image_urls(app.db, app.blobs, [item.id for item in items])
    return {
        item.id: kept[item.id].get(item.image_url or "") or next(iter(kept[item.id].values()))
        for item in items
        if kept.get(item.id)
    }


routes = [
    *(Route(f"/{name}", of_name) for name in NAMED),
    *(Route(f"/{kind}/{{id:int}}", of_id) for kind in SCOPED),
]
