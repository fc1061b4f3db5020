"""`/admin`: the accounts. What people read is not to be seen here."""

from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_urlsafe

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LastAdmin, NameTaken, NotFound
from feedmill.library.accounts import add_account, remove_account, set_password
from feedmill.model.account import ACTIVE, DISABLED, Actor, Caller, User
from feedmill.serve.auth import origin_of
from feedmill.serve.rest.cursors import cursor_at, cut, place_at
from feedmill.serve.web.flash import say, say_failed
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, text, the_app
from feedmill.serve.web.scoped import signed_in_admin
from feedmill.store.administration import Account, accounts_page, change_account, read_account
from feedmill.store.space import bytes_of_users

HERE = "/admin"
ROWS = 50
MEGABYTE = 1_000_000
MOST_DIGITS = 9
LONGEST_CURSOR = 200


def cursor_of(request: Request) -> str | None:
    return request.query_params.get("cursor", "")[:LONGEST_CURSOR] or None


def actor(caller: Caller, request: Request) -> Actor:
    """Who it is that is written down."""
    return Actor(caller.user.id, origin_of(request).address)


async def every(request: Request) -> Response:
    await signed_in_admin(request)
    app = the_app(request)
    page, last = cut(await accounts_page(app.db, place_at(cursor_of(request), 0), ROWS + 1), ROWS)
    kept = await bytes_of_users(app.db, [account.user.id for account in page])
    return await show(
        request, "admin_users.html", active=HERE, accounts=page, kept=kept, registration=app.settings.registration,
        more=f"{HERE}?cursor={cursor_at(last.user.id)}" if last else None,
    )  # fmt: skip


async def ask_new(request: Request) -> Response:
    await signed_in_admin(request)
    return await _show_new(request)


async def add(request: Request) -> Response:
    """Makes an account whose password is shown once; its owner changes it in the settings."""
    caller = await signed_in_admin(request)
    sent = await form(request)
    name, is_admin, password = text(sent, "name"), bool(text(sent, "is_admin")), text(sent, "password")
    made_up = "" if password else token_urlsafe(12)
    try:
        user = await add_account(
            the_app(request).db, name, password or made_up, is_admin, datetime.now(UTC), actor(caller, request)
        )
    except NameTaken:
        return await _show_new(request, {"name": "admin.name_taken"}, name, is_admin)
    except BadInput as error:
        return await _show_new(request, {str(error.field): f"setup.bad_{error.field}"}, name, is_admin)
    if made_up:
        return await _show_one(request, await _account(request, user.id), password=made_up)
    return go(f"{HERE}/users/{user.id}", say("admin.user_added", name=user.name))


async def one(request: Request) -> Response:
    await signed_in_admin(request)
    return await _show_one(request, await _account(request, path_id(request)))


async def change(request: Request) -> Response:
    """Sets the quotas, and whether they are an admin."""
    caller = await signed_in_admin(request)
    sent = await form(request)
    account = await _account(request, path_id(request))
    errors = {name: "admin.bad_quota" for name in ("quota_feeds", "quota_bytes") if not _is_quota(text(sent, name))}
    if errors:
        return await _show_one(request, account, errors, sent=sent)
    megabytes = _quota(sent, "quota_bytes")
    wanted = replace(
        account.user, is_admin=bool(text(sent, "is_admin")), quota_feeds=_quota(sent, "quota_feeds"),
        quota_bytes=None if megabytes is None else megabytes * MEGABYTE,
    )  # fmt: skip
    return await _changed(request, caller, account.user, wanted)


async def do(request: Request) -> Response:
    """What a button of an account asks for."""
    caller = await signed_in_admin(request)
    await form(request)
    account, now, by = await _account(request, path_id(request)), datetime.now(UTC), actor(caller, request)
    match request.path_params["action"]:
        case "disable":
            return await _changed(request, caller, account.user, replace(account.user, status=DISABLED))
        case "enable":
            return await _changed(request, caller, account.user, replace(account.user, status=ACTIVE))
        case "password":
            password = token_urlsafe(12)
            await set_password(the_app(request).db, account.user, password, None, now, by)
            return await _show_one(request, account, password=password)
        case "delete":
            try:
                await remove_account(the_app(request).db, account.user, by, now)
            except LastAdmin:
                return go(f"{HERE}/users/{account.user.id}", say_failed("admin.last_admin"))
            return go(HERE, say("admin.user_deleted", name=account.user.name))
    raise NotFound("an account has no such button")


async def _changed(request: Request, caller: Caller, before: User, after: User) -> Response:
    path = f"{HERE}/users/{before.id}"
    try:
        await change_account(the_app(request).db, before, after, actor(caller, request), datetime.now(UTC))
    except LastAdmin:
        return go(path, say_failed("admin.last_admin"))
    return go(path, say("admin.user_changed", name=before.name))


async def _account(request: Request, user_id: int) -> Account:
    found = await read_account(the_app(request).db, user_id)
    if found is None:
        raise NotFound("there is no such user")
    return found


def _is_quota(typed: str) -> bool:
    return not typed or (typed.isascii() and typed.isdecimal() and len(typed) <= MOST_DIGITS)


def _quota(sent: FormData, name: str) -> int | None:
    """None for any number."""
    return int(text(sent, name)) if text(sent, name) else None


async def _show_new(
    request: Request, errors: dict[str, str] | None = None, name: str = "", is_admin: bool = False
) -> Response:
    return await show(
        request, "admin_user_new.html", 422 if errors else 200, active=HERE, errors=errors or {}, name=name,
        is_admin=is_admin,
    )  # fmt: skip


async def _show_one(
    request: Request, account: Account, errors: dict[str, str] | None = None, password: str = "",
    sent: FormData | None = None,
) -> Response:  # fmt: skip
    user = account.user
    quotas = {
        "quota_feeds": user.quota_feeds if user.quota_feeds is not None else "",
        "quota_bytes": round(user.quota_bytes / MEGABYTE) if user.quota_bytes is not None else "",
    }
    kept = await bytes_of_users(the_app(request).db, [user.id])
    return await show(
        request, "admin_user.html", 422 if errors else 200, active=HERE, account=account, errors=errors or {},
        password=password, quotas={name: text(sent, name) for name in quotas} if sent else quotas, kept=kept[user.id],
    )  # fmt: skip


_ONE = f"{HERE}/users/{{id:int}}"
routes = [
    Route(HERE, every),
    Route(f"{HERE}/users/new", ask_new, methods=["GET"]),
    Route(f"{HERE}/users/new", add, methods=["POST"]),
    Route(_ONE, one, methods=["GET"]),
    Route(_ONE, change, methods=["POST"]),
    Route(f"{_ONE}/{{action}}", do, methods=["POST"]),
]
