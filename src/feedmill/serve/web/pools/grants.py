"""`/pools/n/grants`: grants and revokes the rights to take from a pool group and to fill it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.manage_users import find_user
from feedmill.model.pool import PoolRight
from feedmill.serve.http.auth import actor
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.pools.groups import POOLS_PATH, show_group


@accepts_form({"taker": TEXT, "right": one_of(*PoolRight)})
async def grant(request: Request) -> Response:
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    app, typed = the_app(request), form_text(sent, "taker")
    group = await app.pools.group(path_id(request))
    user = await find_user(app.db, typed)
    if user is None:
        return await show_group(request, group, {"taker": "pools.no_such_user"}, taker=typed)
    right = PoolRight(form_text(sent, "right"))
    await app.pools.grant(group, user, right, by=actor(caller, request))
    return redirect(f"{POOLS_PATH}/{group.id}", flash_success(f"pools.granted_{right}", name=user.name))


@accepts_form({})
async def revoke(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await checked_form(request)
    app = the_app(request)
    group = await app.pools.group(path_id(request))
    right = request.path_params["right"]
    if right not in list(PoolRight):
        raise NotFound(Message("error.group_button"))
    revoked = await app.pools.revoke(group, path_id(request, "user"), PoolRight(right), by=actor(caller, request))
    if revoked is None:
        raise NotFound(Message("error.no_such_user"))
    return redirect(f"{POOLS_PATH}/{group.id}", flash_success(f"pools.revoked_{right}", name=revoked.user_name))


_OF_GROUP = f"{POOLS_PATH}/{{id:int}}/grants"
routes = [
    Route(_OF_GROUP, grant, methods=["POST"]),
    Route(f"{_OF_GROUP}/{{user:int}}/{{right}}/revoke", revoke, methods=["POST"]),
]
