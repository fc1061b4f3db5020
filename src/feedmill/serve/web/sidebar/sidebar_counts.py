"""`/counts`: the numbers of unread entries in the sidebar."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.sidebar.feed_tree import FeedTree, load_feed_tree


async def show_counts(request: Request) -> Response:
    return await sidebar_counts_response(request, (await signed_in(request)).user)


async def sidebar_counts_response(request: Request, user: User, **more: object) -> Response:
    """The unread counts of the sidebar as JSON, for scripts, with whatever `more` they need."""
    return JSONResponse(_sidebar_counts(await load_feed_tree(the_app(request).db, user.id)) | more)


def _sidebar_counts(tree: FeedTree) -> dict[str, object]:
    feeds = {feed.id: feed.unread for feed in tree.every_feed()}
    return {
        "unread": tree.unread,
        "feeds": feeds,
        "folders": {folder.id: folder.unread for folder in tree.every_folder()},
    }


routes = [Route("/counts", show_counts, methods=["GET"])]
