"""`/appearance/css`: changes one's own CSS; `/appearance/own.css`: the CSS itself."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.own_css import MAX_BYTES, own_css_of, save_own_css
from feedmill.serve.http.cache_headers import CACHE_FOREVER, NO_STORE
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.appearance import CSS_PATH, CSS_VERSION, own_css_digest
from feedmill.serve.web.core.assets import TYPES
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

EDITOR = "/appearance/css"


async def show_editor(request: Request) -> Response:
    caller = await signed_in(request)
    return await _show(request, await own_css_of(the_app(request).db, caller.user))


@accepts_form({"css": TEXT})
async def save(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    css = form_text(sent, "css").replace("\r\n", "\n").strip()
    try:
        await save_own_css(the_app(request).db, caller.user, css)
    except BadInput as error:
        return await _show(request, css, error.message)
    return redirect(EDITOR, flash_success("appearance.css_kept"))


async def serve_own_css(request: Request) -> Response:
    caller = await signed_in(request)
    css = await own_css_of(the_app(request).db, caller.user)
    if not css:
        raise NotFound(Message("error.no_own_css"))
    is_current = request.query_params.get(CSS_VERSION) == own_css_digest(request)
    return Response(css, headers=CACHE_FOREVER if is_current else NO_STORE, media_type=TYPES["css"])


async def _show(request: Request, css: str, wrong: Message | None = None) -> Response:
    """The page to edit it, which is always shown without it."""
    request.state.without_own_css = True
    status = 422 if wrong else 200
    return await render_page(request, "users/own_css.html", status, css=css, wrong=wrong, most=MAX_BYTES)


routes = [
    Route(EDITOR, show_editor, methods=["GET"]),
    Route(EDITOR, save, methods=["POST"]),
    Route(CSS_PATH, serve_own_css, methods=["GET"]),
]
