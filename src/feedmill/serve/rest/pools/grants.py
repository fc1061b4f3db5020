"""`/api/pools/{group}/grants`: lists, grants and revokes the rights to take from a pool group and to fill it."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from feedmill.api_schemas.pools import PoolGrantPage, PoolGrantResponse
from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.manage_users import find_user
from feedmill.model.pool import PoolRight
from feedmill.model.user import User
from feedmill.serve.http.auth import actor
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.pools.groups import GroupParameter

router = APIRouter(prefix="/pools", tags=["pools"])

RightParameter = Annotated[PoolRight, Query(description="To take from the group, or to put texts into it.")]
UserPathParameter = Annotated[str, Path(min_length=1, max_length=200, description="The account's name.")]


@router.get("/{group}/grants", responses=problem_responses(404))
async def list_pool_grants(app: TheApp, who: Admin, group: GroupParameter) -> PoolGrantPage:
    """The users who may take from the group or fill it, in addition to all admins."""
    found = await app.pools.grants(await app.pools.group(group))
    items = [
        PoolGrantResponse(user=each.user_name, right=each.right.value, granted_at=each.granted_at) for each in found
    ]
    return PoolGrantPage(items=items)


@router.put("/{group}/grants/{user}", status_code=204, responses=problem_responses(404))
async def grant_pool(
    app: TheApp,
    who: Admin,
    request: Request,
    group: GroupParameter,
    user: UserPathParameter,
    right: RightParameter = PoolRight.TAKE,
) -> None:
    """Lets an account take from the group, or fill it; repeating it changes nothing."""
    granted, to = await app.pools.group(group), await _find_user(app, user)
    await app.pools.grant(granted, to, right, by=actor(who, request))


@router.delete("/{group}/grants/{user}", status_code=204, responses=problem_responses(404))
async def revoke_pool_grant(
    app: TheApp,
    who: Admin,
    request: Request,
    group: GroupParameter,
    user: UserPathParameter,
    right: RightParameter = PoolRight.TAKE,
) -> None:
    """Removes that right at once, also from the account's API keys."""
    granted, of = await app.pools.group(group), await _find_user(app, user)
    if await app.pools.revoke(granted, of.id, right, by=actor(who, request)) is None:
        raise NotFound(Message("error.no_grant", user=of.name, group=granted.name))


async def _find_user(app: App, name: str) -> User:
    found = await find_user(app.db, name)
    if found is None:
        raise NotFound(Message("error.unknown_account", name=name))
    return found
