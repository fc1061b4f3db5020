"""`/go`: to a view, folder, feed or label by its name. The same page is what `g o` opens."""

from collections.abc import Iterator
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.frame import Frame, SidebarFolder, load_frame
from feedmill.serve.web.page import render, show, signed_in, speech, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.words import Words

VIEWS = ("unread", "today", "starred", "later", "all", "history")
ICONS = {"unread": "unread", "starred": "star"}
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Destination:
    """`within` is the folder of a feed, to tell those of one name apart."""

    path: str
    name: str
    icon: str
    within: str = ""


async def see(request: Request) -> Response:
    caller = await signed_in(request)
    asked = request.query_params.get("q", "")[:LONGEST]
    t, _ = speech(request)
    frame = await load_frame(the_app(request).db, caller.user)
    sought = asked.casefold().split()
    found = [each for each in destinations(frame, t) if all(word in each.name.casefold() for word in sought)]
    if is_partial(request):
        return render(request, "parts/go.html", places=found, asked=asked)
    return await show(request, "go.html", places=found, asked=asked)


def destinations(frame: Frame, t: Words) -> Iterator[Destination]:
    """Every place of the sidebar once; views first."""
    for name in VIEWS:
        yield Destination(f"/{name}", t(f"frame.{name}"), ICONS.get(name, name))
    feeds = {feed.path: Destination(feed.path, feed.title, "feed") for feed in frame.feeds}
    for folder in _every_folder(frame.folders):
        yield Destination(f"/folder/{folder.id}", folder.name, "folder")
        feeds |= {feed.path: Destination(feed.path, feed.title, "feed", folder.name) for feed in folder.feeds}
    yield from sorted(feeds.values(), key=lambda each: each.name.casefold())
    yield from (Destination(f"/label/{label.id}", label.name, "label") for label in frame.labels)
    yield from (Destination(search.path, search.name, "search") for search in frame.searches)
    yield from (Destination(path, t(key), icon) for path, key, icon in frame.screens)


def _every_folder(folders: list[SidebarFolder]) -> Iterator[SidebarFolder]:
    for folder in folders:
        yield folder
        yield from _every_folder(folder.folders)


routes = [Route("/go", see)]
