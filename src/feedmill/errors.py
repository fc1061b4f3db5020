"""The error tree: the feed's fault, our infrastructure's fault, or the caller's fault."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from feedmill.i18n.messages import Message, verbatim


class FeedmillError(Exception):
    """The base of all our errors. `message` is for people; `str()` gives its English text, on one line."""

    def __init__(self, message: Message | str) -> None:
        super().__init__(message)

    @property
    def message(self) -> Message:
        [message] = self.args
        return message if isinstance(message, Message) else verbatim(message)


class FeedError(FeedmillError):
    """The feed's fault: record it, back off, retry later."""


class InfrastructureError(FeedmillError):
    """Our own fault or our machine's: change nothing, retry."""


class CallerError(FeedmillError):
    """The caller's fault: a 4xx response, or one line and exit code 2. `more` is further data for programs."""

    more: Mapping[str, Any] = MappingProxyType({})


class BadInput(CallerError):
    """The input is invalid. `code` is for programs, the message for people, `field` names the part of the input."""

    code = "bad_input"

    def __init__(self, message: Message | str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NotSignedIn(CallerError):
    """The caller is unknown, or the key is not valid."""

    code = "not_signed_in"


class WrongPassword(NotSignedIn):
    """The name or the password is wrong; the error does not tell which."""

    code = "wrong_name_or_password"

    def __init__(self) -> None:
        super().__init__(Message("error.wrong_password"))


class NotAllowed(CallerError):
    """The caller is known, but has no right to do this."""

    code = "not_allowed"


class NotFound(CallerError):
    """It does not exist, or does not belong to the caller; the error is the same."""

    code = "not_found"


class UnknownGroup(NotFound):
    """There is no such pool group, or the caller may not take from it."""

    code = "unknown_group"


class Conflict(CallerError):
    """It exists already, or is in a state that does not allow this."""

    code = "conflict"


class NameTaken(Conflict):
    """The name is taken."""

    code = "name_taken"


class GroupExists(Conflict):
    """There is a pool group with that name already."""

    code = "group_exists"


class AlreadySetUp(Conflict):
    """There is an admin already."""

    code = "already_set_up"


class LastAdmin(Conflict):
    """It is the last admin, without whom nobody could administer the instance."""

    code = "last_admin"


class LimitExceeded(CallerError):
    """A rate limit or quota is exceeded. `retry_after` is in seconds; None when waiting won't help."""

    code = "too_many"

    def __init__(self, message: Message | str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooLarge(CallerError):
    """The request body is too large."""

    code = "too_large"


class BadSetting(CallerError):
    """A setting has an invalid value."""


class ObjectKeyTooLong(CallerError):
    """An object key is too long for some object stores."""


class DatabaseError(InfrastructureError):
    """A database operation failed; nothing was changed."""


class DatabaseUnavailable(DatabaseError):
    """The database can't be reached, is full or read-only. A later retry may work."""


class DatabaseAccessDenied(DatabaseError):
    """The database denies access or this operation (wrong token or password, a missing right).

    The operator must act; a retry won't help.
    """


class ConstraintViolated(DatabaseError):
    """A statement violated a constraint (unique, not null, foreign key); its whole batch was rolled back."""


class StatementRefused(DatabaseError):
    """A statement exceeds a documented limit of the database, or is not valid for it."""


class CoordinationUnavailable(InfrastructureError):
    """Redis does not answer; locks and host slots are hints, so work continues."""


class EngineUnavailable(InfrastructureError):
    """The broker accepts no jobs. Their state is in the database, so they can be sent again."""


class BlobError(InfrastructureError):
    """An operation of the object store failed."""


class BlobMissing(BlobError):
    """There is no object under that key."""


class BlobUnavailable(BlobError):
    """The object store can't be reached, is full or read-only. A later retry may work."""


class NotAFeed(FeedError):
    """The document is not a feed. `looks_like` is html, empty, json, binary, xml, text or too_complex."""

    def __init__(self, looks_like: str) -> None:
        super().__init__(Message(f"not_a_feed.{looks_like}"))
        self.looks_like = looks_like
