"""`/pools/n/grants`: grants and revokes the right to take from a pool group."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, NotFound
from feedmill.library.users.manage_users import normalize_user_name
from feedmill.model.user import User
from feedmill.serve.web.admin.users import actor
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.page import checked_form, form_text, redirect, the_app
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.pools.groups import POOLS_PATH, show_group
from feedmill.store.database import Database
from feedmill.store.pools import grants
from feedmill.store.users.users import user_of_id, user_of_name


@accepts_form({"taker": TEXT})
async def grant(request: Request) -> Response:
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    app, typed = the_app(request), form_text(sent, "taker")
    group = await app.pools.group(path_id(request))
    user = await _user(app.db, typed)
    if user is None:
        return await show_group(request, group, {"taker": "pools.no_such_user"}, taker=typed)
    await grants.grant_access(app.db, group, user, actor(caller, request), datetime.now(UTC))
    return redirect(f"{POOLS_PATH}/{group.id}", flash_success("pools.granted", name=user.name))


@accepts_form({})
async def revoke(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await checked_form(request)
    app = the_app(request)
    group = await app.pools.group(path_id(request))
    user = await user_of_id(app.db, path_id(request, "user"))
    if not user or not await grants.revoke_access(app.db, group, user, actor(caller, request), datetime.now(UTC)):
        raise NotFound("there is no such user")
    return redirect(f"{POOLS_PATH}/{group.id}", flash_success("pools.grant_revoked", name=user.name))


async def _user(db: Database, typed: str) -> User | None:
    try:
        return await user_of_name(db, normalize_user_name(typed))
    except BadInput:
        return None


_OF_GROUP = f"{POOLS_PATH}/{{id:int}}/grants"
routes = [
    Route(_OF_GROUP, grant, methods=["POST"]),
    Route(f"{_OF_GROUP}/{{user:int}}/revoke", revoke, methods=["POST"]),
]
