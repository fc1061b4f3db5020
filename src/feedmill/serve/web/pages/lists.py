"""The lists: `/unread`, `/all`, `/starred`, `/later`, `/history`, `/folder/n`, `/feed/n`, `/label/n`."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.cursors import from_cursor
from feedmill.library.images import image_urls
from feedmill.library.reading import Listed, Page, list_entries
from feedmill.model.account import User
from feedmill.serve.web.filters import Filter, filter_of, keep_filter
from feedmill.serve.web.look import look_of
from feedmill.serve.web.page import render, show, signed_in, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.views import NAMED, SCOPED, Opened, ViewAddress, open_view

LONGEST_CURSOR = 200


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a view, for the template."""

    view: Opened
    chosen: Filter
    page: Page
    pictures: dict[int, str]
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
        return f"/item/{entry.id}?in={quote(self.view.address.path)}"


async def of_name(request: Request) -> Response:
    return await _list(request, ViewAddress(request.url.path.removeprefix("/")))


async def of_id(request: Request) -> Response:
    kind, id = request.url.path.split("/")[1], request.path_params["id"]
    return await _list(request, ViewAddress(kind, id))


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
    opened = await open_view(app.db, user.id, address)
    chosen = filter_of(request, address.name, address.usual)
    cursor = request.query_params.get("cursor", "")[:LONGEST_CURSOR]
    wanted = replace(opened.wanted(chosen), beyond=from_cursor(cursor) if cursor else None)
    page = await list_entries(app.db, user.id, wanted, datetime.now(UTC))
    pictures = await _pictures(request, page.items) if look_of(request).density == "cards" else {}
    return Listing(opened, chosen, page, pictures, not cursor)


async def _pictures(request: Request, items: list[Listed]) -> dict[int, str]:
    """By entry the address of its picture, of those that are archived."""
    app = the_app(request)
    with_image = {item.id: item.image_url for item in items if item.image_url}
    kept = await image_urls(app.db, app.blobs, list(with_image))
    found = {id: kept.get(id, {}).get(url) for id, url in with_image.items()}
    return {id: url for id, url in found.items() if url}


routes = [
    *(Route(f"/{name}", of_name) for name in NAMED),
    *(Route(f"/{kind}/{{id:int}}", of_id) for kind in SCOPED),
]
