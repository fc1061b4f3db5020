"""Protects browser sessions against cross-site request forgery.

Each page contains a token derived from the session token, which neither scripts nor other sites can read.
"""

import hmac
from hashlib import sha256

from starlette.requests import HTTPConnection

from feedmill.errors import NotAllowed
from feedmill.i18n.messages import Message
from feedmill.serve.http.session_cookie import session_token_of

HEADER = "X-CSRF-Token"
FIELD = "csrf"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class BadCsrfToken(NotAllowed):
    """The request has no CSRF token, or a wrong one."""

    code = "bad_csrf_token"


def csrf_token_for(session: str) -> str:
    """The CSRF token for a session token (the value of the cookie)."""
    return hmac.new(session.encode(), b"feedmill csrf", sha256).hexdigest()


def check_csrf_token(request: HTTPConnection, sent: str | None) -> None:
    """Raises `BadCsrfToken` unless the token of the form or header belongs to the session."""
    refuse_other_sites(request)
    session = session_token_of(request)
    given = sent or request.headers.get(HEADER) or ""
    if session is None or not hmac.compare_digest(csrf_token_for(session).encode(), given.encode()):
        raise BadCsrfToken(Message("error.stale_page"))


def refuse_other_sites(request: HTTPConnection) -> None:
    """Raises `BadCsrfToken` for cross-site requests; for forms that need no session, such as signing in."""
    relation, came_from = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if relation is not None:
        is_other = relation not in ("same-origin", "none")
    else:
        # Without TLS browsers send only Origin.
        is_other = came_from is not None and came_from.partition("://")[2] != request.headers.get("host")
    if is_other:
        raise BadCsrfToken(Message("error.other_site"))
