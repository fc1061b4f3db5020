"""Protects browser sessions against cross-site request forgery.

A page carries a token that follows from the session's own secret, which no script and no other site can read.
"""

import hmac
from hashlib import sha256

from starlette.requests import HTTPConnection

from feedmill.errors import NotAllowed
from feedmill.serve.http.cookies import session_token_of

HEADER = "X-CSRF-Token"
FIELD = "csrf"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class BadCsrfToken(NotAllowed):
    """The request does not carry the token of the page it should come from."""

    code = "bad_csrf_token"


def csrf_token_for(session: str) -> str:
    """The token that belongs to a session, given the session's own (the cookie's value)."""
    return hmac.new(session.encode(), b"feedmill csrf", sha256).hexdigest()


def check_csrf_token(request: HTTPConnection, sent: str | None) -> None:
    """Refuses a change whose token, from the form or the header, is not the session's."""
    refuse_other_sites(request)
    session = session_token_of(request)
    given = sent or request.headers.get(HEADER) or ""
    if session is None or not hmac.compare_digest(csrf_token_for(session).encode(), given.encode()):
        raise BadCsrfToken("this page is out of date: load it again, and send what you wanted once more")


def refuse_other_sites(request: HTTPConnection) -> None:
    """Refuses what a browser says another site made it send; for forms that need no session, such as signing in."""
    relation, came_from = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if relation is not None:
        is_other = relation not in ("same-origin", "none")
    else:
        # Without TLS browsers tell the origin only.
        is_other = came_from is not None and came_from.partition("://")[2] != request.headers.get("host")
    if is_other:
        raise BadCsrfToken("this request was made by another site")
