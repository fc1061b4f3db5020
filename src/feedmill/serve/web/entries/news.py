"""`/news`: how many entries of a view arrived since a page was loaded, for its script."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from feedmill.library.entries.list_entries import count_news
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.read_form import read_id
from feedmill.serve.web.entries.list_views import open_view, read_view


async def show_news(request: Request) -> Response:
    caller = await signed_in(request)
    db, asked = the_app(request).db, request.query_params
    address, after = read_view(asked.get("view", "")), read_id(asked.get("after", ""))
    opened = await open_view(request, caller.user.id, address)
    n = await count_news(db, caller.user.id, opened.wanted(address.usual), after)
    return JSONResponse({"n": n})


routes = [Route("/news", show_news, methods=["GET"])]
