"""An address of the demo that signs its visitor in: no password has to be typed."""

from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import compare_digest

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from feedmill.library.users.sign_in import begin_session
from feedmill.model.user import User
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.session_cookie import session_token_of, set_session_cookie
from feedmill.serve.web.core.app_state import the_app

FIRST_PAGE = "/unread"


@dataclass(frozen=True, slots=True)
class SignInAddress:
    """Signs the user in at `/demo/TOKEN`, as often as it is opened."""

    user: User
    token: str

    @property
    def path(self) -> str:
        return f"/demo/{self.token}"

    @property
    def route(self) -> Route:
        return Route("/demo/{token}", self.sign_in)

    async def sign_in(self, request: Request) -> Response:
        response = RedirectResponse(FIRST_PAGE, 303)
        if compare_digest(request.path_params["token"].encode(), self.token.encode()):
            session, _ = await begin_session(
                the_app(request).db, self.user, origin_of(request), datetime.now(UTC), session_token_of(request)
            )
            set_session_cookie(response, request, session)
        return response
