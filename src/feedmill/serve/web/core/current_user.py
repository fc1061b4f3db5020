"""Requires an administrator or a pool user for a page."""

from starlette.requests import Request

from feedmill.errors import NotAllowed
from feedmill.model.user import ADMIN, POOLS, Caller
from feedmill.serve.web.core.page import signed_in


async def signed_in_admin(request: Request) -> Caller:
    """The caller if it is an admin; raises `NotAllowed` for others."""
    return await _with_scope(request, ADMIN, "only an admin may see this")


async def signed_in_pool_user(request: Request) -> Caller:
    """The caller if it may take items from pools; raises `NotAllowed` for others."""
    return await _with_scope(request, POOLS, "this key opens no pools")


async def _with_scope(request: Request, scope: str, message: str) -> Caller:
    caller = await signed_in(request)
    if scope not in caller.scopes:
        raise NotAllowed(message)
    return caller
