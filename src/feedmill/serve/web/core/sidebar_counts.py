"""`/counts`: the numbers of unread entries in the sidebar."""

from collections.abc import Iterable, Iterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.sidebar import Sidebar, SidebarFolder, load_sidebar


async def show_counts(request: Request) -> Response:
    return await sidebar_counts_response(request, (await signed_in(request)).user)


async def sidebar_counts_response(request: Request, user: User, **more: object) -> Response:
    """The unread counts of the sidebar as JSON, for scripts, with whatever `more` they need."""
    return JSONResponse(_sidebar_counts(await load_sidebar(the_app(request).db, user)) | more)


def _sidebar_counts(sidebar: Sidebar) -> dict[str, object]:
    folders = list(_every_folder(sidebar.folders))
    feeds = {feed.id: feed.unread for folder in sidebar.folders for feed in folder.every_feed()}
    feeds |= {feed.id: feed.unread for feed in sidebar.feeds}
    return {"unread": sidebar.unread, "feeds": feeds, "folders": {folder.id: folder.unread for folder in folders}}


def _every_folder(folders: Iterable[SidebarFolder]) -> Iterator[SidebarFolder]:
    for folder in folders:
        yield folder
        yield from _every_folder(folder.folders)


routes = [Route("/counts", show_counts, methods=["GET"])]
