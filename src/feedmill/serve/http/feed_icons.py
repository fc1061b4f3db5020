"""`GET /icon/…`: serves the icons of feeds to their subscribers.

The path is the icon's digest or a prefix of it, so its content never changes.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.feeds.icons import icon_of_user, is_icon_name
from feedmill.model.image import StoredIcon
from feedmill.serve.http.auth import caller_of_file_request
from feedmill.serve.http.cache_headers import CACHE_FOREVER, NO_STORE, matches_etag
from feedmill.serve.http.security_headers import INERT_HEADERS


async def serve_icon(request: Request) -> Response:
    found = await _find(request)
    if found is None:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    etag = f'"{found.sha256}"'
    headers = INERT_HEADERS | CACHE_FOREVER | {"ETag": etag, "Content-Type": found.media_type}
    return (
        Response(status_code=304, headers=headers)
        if matches_etag(request, etag)
        else Response(found.body, 200, headers)
    )


async def _find(request: Request) -> StoredIcon | None:
    name = request.path_params["digest"]
    who = await caller_of_file_request(request) if is_icon_name(name) else None
    return await icon_of_user(request.app.state.app.db, who.user.id, name) if who else None


routes = [Route("/icon/{digest}", serve_icon)]
