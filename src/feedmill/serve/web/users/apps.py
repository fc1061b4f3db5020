"""`/settings/apps`: connects reader apps: app passwords, and the steps for each app."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.app_passwords import create_app_password, list_app_passwords, revoke_app_password
from feedmill.model.user import AppPassword
from feedmill.serve.http.app_images import site_of
from feedmill.serve.mcp.lazy_endpoint import MCP_PATH, offers_mcp
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.users.known_apps import BY_ID, NAMED, OTHERS, PATHS, KnownApp
from feedmill.serve.web.users.qr_code import draw_qr_code

APPS_PATH = "/settings/apps"


async def list_apps(request: Request) -> Response:
    await signed_in(request)
    return await _show(request)


@accepts_form({"app": one_of(*BY_ID), "name": TEXT})
async def connect_app(request: Request) -> Response:
    """Creates an app password and shows it with the steps for the app: it is not stored, so no later page could."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app = BY_ID[form_text(sent, "app")]
    name = form_text(sent, "name") or app.name
    now, allows_fever = datetime.now(UTC), app.api == "fever"
    try:
        secret, added = await create_app_password(the_app(request).db, caller, name, now, allows_fever=allows_fever)
    except (BadInput, LimitExceeded) as error:
        return await _show(request, error=error.message, app=app, name=name)
    return await _show(request, app=app, made=(secret, added))


@accepts_form({})
async def revoke_app(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    await revoke_app_password(the_app(request).db, caller, path_id(request), datetime.now(UTC))
    return redirect(APPS_PATH, flash_success("apps.revoked"))


async def show_sign_in(request: Request) -> Response:
    """Whether the app has signed in, as a part of the page that asks for it until it has."""
    caller = await signed_in(request)
    wanted = path_id(request)
    found = [each for each in await list_app_passwords(the_app(request).db, caller) if each.id == wanted]
    if not found:
        raise NotFound(Message("error.no_such_app_password"))
    return render_template(request, "users/app_sign_in.html", password=found[0])


async def _show(
    request: Request,
    error: Message | None = None,
    app: KnownApp | None = None,
    name: str = "",
    made: tuple[str, AppPassword] | None = None,
) -> Response:
    caller = request.state.caller
    return await render_page(
        request,
        "users/apps.html",
        422 if error else 200,
        active="/settings",
        error=error,
        name=name,
        chosen=app,
        made=made,
        passwords=await list_app_passwords(the_app(request).db, caller),
        named_apps=NAMED,
        other_apps=OTHERS,
        server=site_of(request) + PATHS[app.api] if app else "",
        mcp_address=f"{site_of(request)}{MCP_PATH}" if offers_mcp(the_app(request).settings) else "",
        qr_code=draw_qr_code(f"{site_of(request) + PATHS[app.api]}\n{caller.user.name}\n{made[0]}")
        if made and app
        else "",
    )


routes = [
    Route(APPS_PATH, list_apps, methods=["GET"]),
    Route(APPS_PATH, connect_app, methods=["POST"]),
    Route(f"{APPS_PATH}/{{id:int}}/sign-in", show_sign_in, methods=["GET"]),
    Route(f"{APPS_PATH}/{{id:int}}/revoke", revoke_app, methods=["POST"]),
]
