"""Requires a signed-in user, an administrator or a pool user for a page."""

from urllib.parse import quote

from starlette.requests import Request

from feedmill.errors import NotAllowed, NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.library.users.manage_users import needs_setup
from feedmill.model.user import ADMIN, POOLS, Caller
from feedmill.serve.http.auth import any_session_caller_of, refuse_restricted_session, session_caller_of
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.redirects import return_path


class SignInRequired(NotSignedIn):
    """The page needs a signed-in user; `to` is the path of the sign-in page."""

    def __init__(self, to: str) -> None:
        super().__init__(Message("error.sign_in_first"))
        self.to = to


async def signed_in(request: Request) -> Caller:
    """The signed-in caller; redirects others to sign in and back, or to the setup of a new instance."""
    caller = await session_caller_of(request)
    if caller is None:
        await refuse_restricted_session(request)
        if await needs_setup(the_app(request).db):
            raise SignInRequired("/setup")
        raise SignInRequired(f"/login?next={quote(return_path(request))}")
    request.state.caller = caller
    return caller


async def signed_in_with_password(request: Request) -> Caller:
    """The same, also for users who must set up a second factor before they may do anything else."""
    caller = await any_session_caller_of(request)
    if caller is None:
        return await signed_in(request)
    request.state.caller = caller
    return caller


async def signed_in_admin(request: Request) -> Caller:
    """The caller if it is an admin; raises `NotAllowed` for others."""
    return await _with_scope(request, ADMIN, Message("error.admin_page"))


async def signed_in_pool_user(request: Request) -> Caller:
    """The caller if it may take items from pools; raises `NotAllowed` for others."""
    return await _with_scope(request, POOLS, Message("error.no_pool_scope"))


async def _with_scope(request: Request, scope: str, message: Message) -> Caller:
    caller = await signed_in(request)
    if scope not in caller.scopes:
        raise NotAllowed(message)
    return caller
