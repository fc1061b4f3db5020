"""The lists of entries: `/unread`, `/today`, `/all`, `/starred`, `/later`, `/history`, folders, feeds and labels."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.html.hide_remote_images import MAX_URL_LENGTH
from feedmill.i18n.dates import DateFormatter
from feedmill.library.archive.archived_images import image_urls
from feedmill.library.cursors import from_list_cursor
from feedmill.library.entries.article import read_article
from feedmill.library.entries.list_around import PageAround, list_around
from feedmill.library.entries.list_entries import EntryListPage, EntrySummary, list_entries
from feedmill.library.feeds.health import last_failure
from feedmill.library.filters.effects import effects_of_entries
from feedmill.library.stories.also_in import StoryCopies, copies_of_entries
from feedmill.model.entry_lists import ListPosition
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.filters.filter_history import FilterEffect
from feedmill.model.stories.story_copy import StoryCopy
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.appearance import appearance_of
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.entries.article_drawings import drawing_path
from feedmill.serve.web.entries.article_images import image_path
from feedmill.serve.web.entries.article_view import ArticleView, article_view, item_path
from feedmill.serve.web.entries.day_headings import day_headings
from feedmill.serve.web.entries.list_filter import ListFilter, list_filter_of, remember_list_filter
from feedmill.serve.web.entries.list_views import NAMED_VIEWS, SCOPED_VIEWS, OpenedView, ViewAddress, open_view
from feedmill.serve.web.entries.next_list import next_list

MAX_CURSOR_LENGTH = 200
ROWS = 50
# A page carries what a screen shows; the rest follows when it is scrolled to.
FIRST_ROWS = 20
FULL_TEXTS = 12
VIEWS_WITHOUT_DAYS = ("today", "starred", "later")
# So many rows before the article that a list is shown around.
ROWS_BEFORE, FULL_TEXTS_BEFORE = 20, 2


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a view, for the template; `opened` is the entry that is read beside it."""

    view: OpenedView
    chosen: ListFilter
    page: EntryListPage
    pictures: dict[int, str]
    texts: dict[int, ArticleView]
    is_first: bool
    opened: int | None = None
    beyond: ListPosition | None = None
    has_summaries: bool = True
    copies: StoryCopies = field(default_factory=dict)
    raised_by: dict[int, FilterEffect] = field(default_factory=dict)

    @property
    def items(self) -> list[EntrySummary]:
        return self.page.items

    @property
    def more(self) -> str | None:
        """The URL of the next page."""
        return self.at(cursor=self.page.next) if self.page.next else None

    @property
    def earlier(self) -> str | None:
        """The address of the list from its start, when this page does not begin there."""
        return self.at() if isinstance(self.page, PageAround) and self.page.has_earlier else None

    def at(self, **changes: str) -> str:
        """The URL of this view with a changed filter."""
        asked = {"show": self.chosen.show, "order": str(self.chosen.order)} | changes
        return f"{self.view.address.path}?{urlencode(asked)}"

    def headings(self, when: DateFormatter) -> dict[int, str]:
        """The days of the list's own times: what was kept is ordered by when, which no row shows."""
        kind = self.view.address.kind
        if kind in VIEWS_WITHOUT_DAYS:
            return {}
        in_place = self.items[self.page.raised_count :]
        times = ((entry.id, entry.read_at if kind == "history" else entry.sort_at) for entry in in_place)
        return day_headings(times, when, self.beyond.at if self.beyond else None)

    def item(self, entry: EntrySummary | StoryCopy) -> str:
        return item_path(entry.id, self.view.address, self.chosen)


async def show_named_list(request: Request) -> Response:
    return await _list(request, ViewAddress(request.url.path.removeprefix("/")))


async def show_scoped_list(request: Request) -> Response:
    return await _list(request, ViewAddress(request.url.path.split("/")[1], path_id(request)))


async def _list(request: Request, address: ViewAddress) -> Response:
    caller = await signed_in(request)
    listing = await _load(request, caller.user, address)
    if is_fragment_request(request):
        return render_template(request, "entries/more_rows.html", listing=listing)
    response = await _render(request, listing, None)
    remember_list_filter(request, response, address.name, listing.chosen)
    return response


async def render_list_around(request: Request, user: User, article: ArticleView) -> Response:
    """The page of the article's view where the article is, and the article beside it."""
    return await _render(request, await _load(request, user, article.view, article.entry.id), article)


async def _render(request: Request, listing: Listing, article: ArticleView | None) -> Response:
    feed, active = listing.view.feed, listing.view.address.path
    failure = await last_failure(the_app(request).db, feed) if feed else None
    return await render_page(
        request,
        "entries/list.html",
        active=active,
        services=await the_app(request).services.all(request.state.caller.user.id),
        listing=listing,
        article=article,
        failure=failure,
        next_list=next_list,
    )


async def _load(request: Request, user: User, address: ViewAddress, opened_id: int | None = None) -> Listing:
    app = the_app(request)
    opened = await open_view(request, user.id, address)
    chosen = list_filter_of(request, address.name, address.usual)
    cursor, density = request.query_params.get("cursor", "")[:MAX_CURSOR_LENGTH], appearance_of(request).density
    last = from_list_cursor(cursor) if cursor else None
    beyond, raised = (last.position, last.raised) if last else (None, None)
    most = _page_size(density, is_first=not cursor and opened_id is None)
    wanted = replace(opened.wanted(chosen), beyond=beyond, raised=raised, most=most)
    before, now = FULL_TEXTS_BEFORE if density == "full" else ROWS_BEFORE, datetime.now(UTC)
    if opened_id is None:
        page = await list_entries(app.db, user.id, wanted, now)
    else:
        page = await list_around(app.db, user.id, wanted, opened_id, before, now)
    pictures = await _pictures(request, page.items) if density == "cards" else {}
    texts = await _texts(request, user, page.items, address) if density == "full" else {}
    copies = await copies_of_entries(app.db, user.id, [item.id for item in page.items]) if opened.stories_once else {}
    has_summaries = density in ("cards", "full")
    raised_by = await _raised_by(request, user, page)
    return Listing(
        opened, chosen, page, pictures, texts, not cursor, opened_id, beyond, has_summaries, copies, raised_by
    )


async def _raised_by(request: Request, user: User, page: EntryListPage) -> dict[int, FilterEffect]:
    """Which filter raised each of the entries that the page shows first."""
    ids = [item.id for item in page.items[: page.raised_count]]
    effects = await effects_of_entries(the_app(request).db, user.id, ids) if ids else {}
    return {id: each for id, done in effects.items() for each in done if each.action is FilterAction.RAISE}


def _page_size(density: str, is_first: bool) -> int:
    return FULL_TEXTS if density == "full" else FIRST_ROWS if is_first else ROWS


async def _texts(request: Request, user: User, items: list[EntrySummary], view: ViewAddress) -> dict[int, ArticleView]:
    """The article of each entry by id, for the density that shows whole articles."""
    app, now = the_app(request), datetime.now(UTC)
    articles = [
        await read_article(app.db, app.blobs, user.id, item.id, now, drawing_url=drawing_path) for item in items
    ]
    return {article.id: await article_view(request, article, view) for article in articles}


async def _pictures(request: Request, items: list[EntrySummary]) -> dict[int, str]:
    """An image for each entry by id: the one that the feed names, else the first that is archived."""
    app = the_app(request)
    kept = await image_urls(app.db, app.blobs, [item.id for item in items])
    found = {item.id: _picture(request, item, kept.get(item.id, {})) for item in items}
    return {id: picture for id, picture in found.items() if picture}


def _picture(request: Request, item: EntrySummary, kept: dict[str, str]) -> str | None:
    named = item.image_url or ""
    if kept:
        return kept.get(named) or next(iter(kept.values()))
    return image_path(request, item.id, named) if 0 < len(named) <= MAX_URL_LENGTH else None


async def redirect_to_unread(request: Request) -> Response:
    await signed_in(request)
    return redirect("/unread")


routes = [
    Route("/", redirect_to_unread),
    *(Route(f"/{name}", show_named_list) for name in NAMED_VIEWS),
    *(Route(f"/{kind}/{{id:int}}", show_scoped_list) for kind in SCOPED_VIEWS),
]
