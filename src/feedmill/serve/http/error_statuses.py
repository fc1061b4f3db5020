"""The HTTP status for each kind of `CallerError`."""

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
    """The status of the nearest base class of the error; 400 if there is none."""
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 400)
