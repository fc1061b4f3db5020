"""The error tree: the feed's fault, our infrastructure's fault, or the caller's fault."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class FeedmillError(Exception):
    """Whatever stops Feedmill on purpose; its text is one line fit for a person."""


class FeedError(FeedmillError):
    """The feed's fault: record it, back off, try again later."""


class InfrastructureError(FeedmillError):
    """Our own fault or our machine's: leave no trace, try again."""


class CallerError(FeedmillError):
    """The caller's fault: answer 4xx, or one line and a non-zero exit. `more` is what a program can go on with."""

    more: Mapping[str, Any] = MappingProxyType({})


class BadInput(CallerError):
    """What was sent can't be taken. `code` is for programs, the text for people, `field` where it stood."""

    code = "bad_input"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NotSignedIn(CallerError):
    """Nobody that we know is asking, or with a key that does not hold."""

    code = "not_signed_in"


class WrongPassword(NotSignedIn):
    """The name or the password is wrong; which of them is not said."""

    code = "wrong_name_or_password"

    def __init__(self) -> None:
        super().__init__("Name or password is wrong.")


class NotAllowed(CallerError):
    """We know who asks, and they may not."""

    code = "not_allowed"


class NotFound(CallerError):
    """There is no such thing, or it is not the caller's; both sound the same."""

    code = "not_found"


class UnknownGroup(NotFound):
    """There is no such pool group, or the caller may not take from it."""

    code = "unknown_group"


class Conflict(CallerError):
    """It is there already, or in a state that does not allow this."""

    code = "conflict"


class NameTaken(Conflict):
    """Somebody has that name already."""

    code = "name_taken"


class GroupExists(Conflict):
    """There is a pool group of that name already."""

    code = "group_exists"


class AlreadySetUp(Conflict):
    """There is an admin already."""

    code = "already_set_up"


class LastAdmin(Conflict):
    """Without this one nobody could administer the installation any more."""

    code = "last_admin"


class LimitExceeded(CallerError):
    """Asked too often, or beyond a quota. `retry_after` in seconds; None when waiting won't help."""

    code = "too_many"

    def __init__(self, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooLarge(CallerError):
    """More was sent than is taken."""

    code = "too_large"


class BadSetting(CallerError):
    """A setting has a value that Feedmill can't start with."""


class ObjectKeyTooLong(CallerError):
    """An object key is longer than every store can hold."""


class DatabaseError(InfrastructureError):
    """The database did not do what it was asked; nothing of the change was kept."""


class DatabaseUnavailable(DatabaseError):
    """The database can't be reached, is full or read-only. Asking again later may work."""


class DatabaseAccessDenied(DatabaseError):
    """The database does not let us in, or not do this (wrong token or password, a right we lack).

    The operator must act; asking again won't help.
    """


class ConstraintViolated(DatabaseError):
    """A statement broke a constraint (unique, not null, foreign key), so its whole batch was undone."""


class StatementRefused(DatabaseError):
    """A statement exceeds a documented limit of the database, or the database can't understand it."""


class CoordinationUnavailable(InfrastructureError):
    """The place of shared locks and turns does not answer; what it keeps is a hint, so work goes on."""


class EngineUnavailable(InfrastructureError):
    """The broker takes no jobs. What they speak of is in the database, so they can be made again."""


class BlobError(InfrastructureError):
    """The object store did not do what it was asked."""


class BlobMissing(BlobError):
    """There is no object under that key."""


class BlobUnavailable(BlobError):
    """The object store can't be reached, is full or read-only. Asking again later may work."""


class NotAFeed(FeedError):
    """The document is no feed. `looks_like` says what it is: html, empty, json, binary, xml or text."""

    def __init__(self, looks_like: str) -> None:
        super().__init__(f"not a feed: it looks like {looks_like}")
        self.looks_like = looks_like
