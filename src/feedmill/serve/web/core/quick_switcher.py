"""`/go`: jumps to a view, folder, feed or label by its name."""

from collections.abc import Iterator
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.i18n.natural_order import natural_key
from feedmill.i18n.translator import Translator
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.sidebar.sidebar import Sidebar, load_sidebar

VIEWS = ("unread", "today", "starred", "later", "all", "history")
ICONS = {"unread": "unread", "starred": "star"}
MAX_QUERY_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Destination:
    """`within` is the folder of a feed, to distinguish feeds of the same name."""

    path: str
    name: str
    icon: str
    within: str = ""


async def show_destinations(request: Request) -> Response:
    caller = await signed_in(request)
    asked = request.query_params.get("q", "")[:MAX_QUERY_LENGTH]
    t, _ = translator_and_dates(request)
    frame = await load_sidebar(request, caller.user)
    words = asked.casefold().split()
    found = [each for each in destinations(frame, t) if all(word in each.name.casefold() for word in words)]
    if is_fragment_request(request):
        return render_template(request, "core/quick_switcher_list.html", places=found, asked=asked)
    return await render_page(request, "core/quick_switcher.html", places=found, asked=asked)


def destinations(frame: Sidebar, t: Translator) -> Iterator[Destination]:
    """Every destination of the sidebar once; views first."""
    for name in VIEWS:
        yield Destination(f"/{name}", t(f"frame.{name}"), ICONS.get(name, name))
    feeds = {feed.path: Destination(feed.path, feed.title, "feed") for feed in frame.feeds}
    for folder in frame.tree.every_folder():
        yield Destination(f"/folder/{folder.id}", folder.name, "folder")
        feeds |= {feed.path: Destination(feed.path, feed.title, "feed", folder.name) for feed in folder.feeds}
    yield from sorted(feeds.values(), key=lambda each: natural_key(each.name))
    yield from (Destination(f"/label/{label.id}", label.name, "label") for label in frame.labels)
    yield from (Destination(search.path, search.name, "search") for search in frame.searches)
    yield from (Destination(path, t(key), icon) for path, key, icon in frame.screens)


routes = [Route("/go", show_destinations)]
