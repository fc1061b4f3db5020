"""Renders pages and fragments from templates."""

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from feedmill.model.user import Caller
from feedmill.serve.http import csrf
from feedmill.serve.http.security_headers import ALLOW_REMOTE_IMAGES
from feedmill.serve.http.session_cookie import session_token_of
from feedmill.serve.web.core import flash
from feedmill.serve.web.core.appearance import appearance_of, own_css_url
from feedmill.serve.web.core.jinja_environment import template_environment
from feedmill.serve.web.core.keymap import key_translations
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.preferences import user_preferences_of
from feedmill.serve.web.core.redirects import return_path
from feedmill.serve.web.sidebar.sidebar import load_sidebar


async def render_page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Renders a page: the template with the frame and these values. `active` is the current view in the sidebar."""
    if appearance_of(request).originals == "yes":
        request.scope[ALLOW_REMOTE_IMAGES] = True
    caller: Caller | None = getattr(request.state, "caller", None)
    active = values.get("active", request.url.path)
    frame = await load_sidebar(request, caller.user, active) if caller else None
    message = flash.read_flash(request, translator_and_dates(request)[0])
    response = render_template(request, template, status, frame=frame, flash=message, **values)
    if message is not None:
        flash.clear_flash(response)
    return response


def render_template(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Renders a template without the frame, for fragments."""
    return HTMLResponse(
        template_environment().get_template(template).render(_template_values(request) | values), status
    )


def _template_values(request: Request) -> dict[str, Any]:
    caller: Caller | None = getattr(request.state, "caller", None)
    session = session_token_of(request)
    t, when = translator_and_dates(request)
    return {
        "t": t,
        "when": when,
        "appearance": appearance_of(request),
        "own_css": own_css_url(request),
        "preferences": user_preferences_of(request),
        "key_translations": key_translations(request),
        "user": caller.user if caller else None,
        "csrf": csrf.csrf_token_for(session) if caller and session else "",
        "here": return_path(request),
        "active": request.url.path,
        "frame": None,
        "flash": None,
    }
