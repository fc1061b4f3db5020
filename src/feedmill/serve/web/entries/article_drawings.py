"""`/item/n/drawing`: a drawing (inline SVG) of an article's text, as an image.

In an image nothing runs and nothing is loaded; opened by itself, its policy and the sandbox see to that.
"""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from feedmill.html.hide_remote_images import image_placeholder
from feedmill.i18n.translator import translator
from feedmill.library.entries.article import find_entry, read_drawing
from feedmill.serve.http.cache_headers import NO_STORE
from feedmill.serve.http.security_headers import INERT_HEADERS
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.localization import language_of
from feedmill.serve.web.core.path_ids import path_id

# A drawing has its own styles.
DRAWING_HEADERS = INERT_HEADERS | {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cache-Control": "private, max-age=3600",
}
LONGEST_NUMBER = 6


def drawing_path(entry_id: int, is_full: bool, number: int) -> str:
    """The address of a drawing of the entry's full text, or of that of the feed."""
    return f"/item/{entry_id}/drawing?{urlencode({'text': 'full' if is_full else 'feed', 'n': number})}"


async def show_drawing(request: Request) -> Response:
    caller = await signed_in(request)
    db, entry_id = the_app(request).db, path_id(request)
    is_full = request.query_params.get("text") == "full"
    drawing = await read_drawing(db, caller.user.id, entry_id, is_full, _number(request))
    if drawing is not None:
        return Response(drawing, headers=DRAWING_HEADERS, media_type="image/svg+xml")
    t = translator(language_of(request))
    link = (await find_entry(db, caller.user.id, entry_id)).link or ""
    shown = image_placeholder(link, t("article.drawing"), t("article.drawing_left_out"), t)
    return HTMLResponse(shown, 404, INERT_HEADERS | NO_STORE)


def _number(request: Request) -> int:
    text = request.query_params.get("n", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else -1


routes = [Route("/item/{id:int}/drawing", show_drawing)]
