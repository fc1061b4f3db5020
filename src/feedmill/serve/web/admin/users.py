"""`/admin`: lists, creates, changes and deletes users."""

from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_urlsafe

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LastAdmin, NameTaken, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at
from feedmill.library.users.manage_users import count_keys, make_user, remove_user, set_password
from feedmill.library.users.sign_in_links import LINK_LIFETIME, create_sign_in_link, invite_user, sign_in_link
from feedmill.model.user import ACTIVE, DISABLED, AccessEnded, Actor, Caller, User
from feedmill.serve.http.app_images import site_of
from feedmill.serve.http.auth import actor
from feedmill.serve.http.paginate import decode_cursor, query_cursor, split_page
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_error, flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, TEXT, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.store.admin.users import UserSummary, read_user_summary, update_user, users_page
from feedmill.store.archive.user_storage_usage import archived_bytes_by_user
from feedmill.store.users.sessions import sessions_of

ADMIN_PATH = "/admin"
ROWS = 50
MEGABYTE = 1_000_000
MOST_DIGITS = 9


async def list_users(request: Request) -> Response:
    await signed_in_admin(request)
    app = the_app(request)
    page, last = split_page(await users_page(app.db, decode_cursor(query_cursor(request), 0), ROWS + 1), ROWS)
    kept = await archived_bytes_by_user(app.db, [account.user.id for account in page])
    return await render_page(
        request,
        "admin/users.html",
        active=ADMIN_PATH,
        accounts=page,
        kept=kept,
        registration=app.settings.registration,
        more=f"{ADMIN_PATH}?cursor={cursor_at(last.user.id)}" if last else None,
    )


async def show_new_user(request: Request) -> Response:
    await signed_in_admin(request)
    return await _show_new(request)


@accepts_form({"name": TEXT, "password": TEXT.optional, "is_admin": CHECKBOX, "invite": CHECKBOX})
async def create_user(request: Request) -> Response:
    """Creates an account with a password that is shown once; the user changes it in the settings."""
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    name, is_admin, password = form_text(sent, "name"), bool(form_text(sent, "is_admin")), form_text(sent, "password")
    made_up = "" if password else token_urlsafe(12)
    try:
        if form_text(sent, "invite"):
            return await _invite(request, name, is_admin, actor(caller, request))
        user = await make_user(
            the_app(request).db, name, password or made_up, is_admin, datetime.now(UTC), actor(caller, request)
        )
    except NameTaken:
        return await _show_new(request, {"name": "admin.name_taken"}, name, is_admin)
    except BadInput as error:
        return await _show_new(request, {str(error.field): f"setup.bad_{error.field}"}, name, is_admin)
    if made_up:
        return await _show_one(request, await _find_user(request, user.id), password=made_up)
    return redirect(f"{ADMIN_PATH}/users/{user.id}", flash_success("admin.user_added", name=user.name))


async def show_user(request: Request) -> Response:
    await signed_in_admin(request)
    return await _show_one(request, await _find_user(request, path_id(request)))


@accepts_form({"quota_feeds": TEXT, "quota_bytes": TEXT, "is_admin": CHECKBOX})
async def change_quotas(request: Request) -> Response:
    """Changes the quotas and the admin right."""
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    account = await _find_user(request, path_id(request))
    errors = {
        name: "admin.bad_quota" for name in ("quota_feeds", "quota_bytes") if not _is_quota(form_text(sent, name))
    }
    if errors:
        return await _show_one(request, account, errors, sent=sent)
    megabytes = _quota(sent, "quota_bytes")
    wanted = replace(
        account.user,
        is_admin=bool(form_text(sent, "is_admin")),
        quota_feeds=_quota(sent, "quota_feeds"),
        quota_bytes=None if megabytes is None else megabytes * MEGABYTE,
    )
    return await _changed(request, caller, account.user, wanted)


@accepts_form({"revoke_keys": CHECKBOX})
async def user_action(request: Request) -> Response:
    """Handles the buttons of an account."""
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    account, now, by = await _find_user(request, path_id(request)), datetime.now(UTC), actor(caller, request)
    match request.path_params["action"]:
        case "disable":
            return await _changed(request, caller, account.user, replace(account.user, status=DISABLED))
        case "enable":
            return await _changed(request, caller, account.user, replace(account.user, status=ACTIVE))
        case "password":
            password = token_urlsafe(12)
            revoke_keys = bool(form_text(sent, "revoke_keys"))
            db = the_app(request).db
            ended = await set_password(db, account.user, password, None, now, by, revoke_keys=revoke_keys)
            return await _show_one(request, account, password=password, ended=ended)
        case "sign-in-link":
            token = await create_sign_in_link(the_app(request).db, account.user, LINK_LIFETIME, now, by)
            return await _show_one(request, account, link=sign_in_link(site_of(request), token))
        case "delete":
            try:
                await remove_user(the_app(request).db, account.user, by, now)
            except LastAdmin:
                return redirect(f"{ADMIN_PATH}/users/{account.user.id}", flash_error("admin.last_admin"))
            return redirect(ADMIN_PATH, flash_success("admin.user_deleted", name=account.user.name))
    raise NotFound(Message("error.account_button"))


async def _invite(request: Request, name: str, is_admin: bool, by: Actor) -> Response:
    """Creates an account without a password, and shows the link that signs its user in."""
    user, token = await invite_user(the_app(request).db, name, is_admin, datetime.now(UTC), by)
    return await _show_one(request, await _find_user(request, user.id), link=sign_in_link(site_of(request), token))


async def _changed(request: Request, caller: Caller, before: User, after: User) -> Response:
    path = f"{ADMIN_PATH}/users/{before.id}"
    try:
        await update_user(the_app(request).db, before, after, actor(caller, request), datetime.now(UTC))
    except LastAdmin:
        return redirect(path, flash_error("admin.last_admin"))
    return redirect(path, flash_success("admin.user_changed", name=before.name))


async def _find_user(request: Request, user_id: int) -> UserSummary:
    found = await read_user_summary(the_app(request).db, user_id)
    if found is None:
        raise NotFound(Message("error.no_such_user"))
    return found


def _is_quota(typed: str) -> bool:
    return not typed or (typed.isascii() and typed.isdecimal() and len(typed) <= MOST_DIGITS)


def _quota(sent: FormData, name: str) -> int | None:
    """The number in a field; None (no limit) if it is empty."""
    return int(form_text(sent, name)) if form_text(sent, name) else None


async def _show_new(
    request: Request, errors: dict[str, str] | None = None, name: str = "", is_admin: bool = False
) -> Response:
    return await render_page(
        request,
        "admin/new_user.html",
        422 if errors else 200,
        active=ADMIN_PATH,
        errors=errors or {},
        name=name,
        is_admin=is_admin,
    )


async def _show_one(
    request: Request,
    account: UserSummary,
    errors: dict[str, str] | None = None,
    password: str = "",
    sent: FormData | None = None,
    ended: AccessEnded | None = None,
    link: str = "",
) -> Response:
    user, db, now = account.user, the_app(request).db, datetime.now(UTC)
    quotas = {
        "quota_feeds": user.quota_feeds if user.quota_feeds is not None else "",
        "quota_bytes": round(user.quota_bytes / MEGABYTE) if user.quota_bytes is not None else "",
    }
    kept = await archived_bytes_by_user(db, [user.id])
    return await render_page(
        request,
        "admin/user.html",
        422 if errors else 200,
        active=ADMIN_PATH,
        account=account,
        errors=errors or {},
        password=password,
        link=link,
        quotas={name: form_text(sent, name) for name in quotas} if sent else quotas,
        kept=kept[user.id],
        ended=ended,
        sessions=len(await sessions_of(db, user.id, now)),
        keys=await count_keys(db, user.id, now),
    )


_ONE = f"{ADMIN_PATH}/users/{{id:int}}"
routes = [
    Route(ADMIN_PATH, list_users),
    Route(f"{ADMIN_PATH}/users/new", show_new_user, methods=["GET"]),
    Route(f"{ADMIN_PATH}/users/new", create_user, methods=["POST"]),
    Route(_ONE, show_user, methods=["GET"]),
    Route(_ONE, change_quotas, methods=["POST"]),
    Route(f"{_ONE}/{{action}}", user_action, methods=["POST"]),
]
