"""The HTTP status that answers each kind of error of the caller's."""

from feedmill.errors import (
    BadInput,
    CallerError,
    Conflict,
    LimitExceeded,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TooLarge,
)

STATUSES: dict[type[CallerError], int] = {
    NotSignedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    BadInput: 422,
    LimitExceeded: 429,
}


def status_of(error: CallerError) -> int:
    """The status of the nearest kind that the error is of; 400 for any other."""
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 400)
