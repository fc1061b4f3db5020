"""`GET /icon/…`: icons of feeds, with the same care as images, for who has a feed with that icon.

The path is the icon's digest, or how that begins: what stands there never changes.
"""

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.auth import caller_of
from feedmill.serve.images import FOR_EVER, NOT_NOW, SAFE, has_it
from feedmill.store.icons import NAME_LENGTH, Shown, icon_for

_DIGEST = re.compile(f"[0-9a-f]{{{NAME_LENGTH},64}}")


async def icon(request: Request) -> Response:
    found = await _find(request)
    if found is None:
        return Response(status_code=404, headers=SAFE | NOT_NOW)
    etag = f'"{found.sha256}"'
    headers = SAFE | FOR_EVER | {"ETag": etag, "Content-Type": found.media_type}
    return Response(status_code=304, headers=headers) if has_it(request, etag) else Response(found.body, 200, headers)


async def _find(request: Request) -> Shown | None:
    digest = request.path_params["digest"]
    who = await caller_of(request) if _DIGEST.fullmatch(digest) else None
    return await icon_for(request.app.state.app.db, who.user.id, digest) if who else None


routes = [Route("/icon/{digest}", icon)]
