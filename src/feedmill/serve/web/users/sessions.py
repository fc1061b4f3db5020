"""`/settings/sessions`: lists and ends the user's sessions."""

from dataclasses import asdict
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.users import sessions
from feedmill.library.users.manage_users import count_keys, sign_out_elsewhere
from feedmill.serve.http.auth import origin_of
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

# The first match counts: most browsers also name the others.
BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)

SESSIONS_PATH = "/settings/sessions"


async def list_sessions(request: Request) -> Response:
    caller = await signed_in(request)
    db, now = the_app(request).db, datetime.now(UTC)
    return await render_page(
        request,
        "users/sessions.html",
        active="/settings",
        sessions=await sessions.list_sessions(db, caller, now),
        current=caller.session_id,
        device=device_name,
        keys=await count_keys(db, caller.user.id, now),
    )


@accepts_form({})
async def end_session(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    await sessions.end_session(the_app(request).db, caller, path_id(request))
    return redirect(SESSIONS_PATH, flash_success("settings.session_ended"))


@accepts_form({"revoke_keys": CHECKBOX})
async def end_other_sessions(request: Request) -> Response:
    caller = await signed_in(request)
    revoke_keys = bool(form_text(await checked_form(request), "revoke_keys"))
    db, now = the_app(request).db, datetime.now(UTC)
    ended = await sign_out_elsewhere(db, caller, origin_of(request), now, revoke_keys=revoke_keys)
    return redirect(SESSIONS_PATH, flash_success("settings.sessions_ended", **asdict(ended)))


routes = [
    Route(SESSIONS_PATH, list_sessions),
    Route(f"{SESSIONS_PATH}/end-others", end_other_sessions, methods=["POST"]),
    Route(f"{SESSIONS_PATH}/{{id:int}}/end", end_session, methods=["POST"]),
]


def device_name(agent: str | None) -> str:
    """`Firefox · Linux`; for other programs the first name in the header; empty without a header."""
    if not agent:
        return ""
    browser = next((name for word, name in BROWSERS if f"{word}/" in agent), "")
    system = next((name for word, name in SYSTEMS if word in agent), "")
    return " · ".join(filter(None, (browser, system))) or "".join(agent.split()[:1])[:60]
