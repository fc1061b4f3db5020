"""Says why a connection failed: the message of an error, by the number that the operating system gave it.

The texts of such errors are for programmers: `[Errno 111] Connect call failed ('127.0.0.1', 9)`.
"""

import errno
import re
import socket
from collections.abc import Iterator

from feedmill.i18n.messages import Message

_BY_NUMBER = {
    errno.ECONNREFUSED: Message("fetch.connection_refused"),
    errno.ECONNRESET: Message("fetch.closed"),
    errno.EPIPE: Message("fetch.closed"),
    errno.EHOSTUNREACH: Message("fetch.unreachable"),
    errno.ENETUNREACH: Message("fetch.unreachable"),
    errno.ETIMEDOUT: Message("fetch.timeout"),
}
# asyncio joins the errors of several addresses to one text; libraries write the number into theirs.
_NUMBER_IN_TEXT = re.compile(r"\[Errno (\d{1,4})\]|\bError (\d{1,4}) |\(os error (\d{1,4})\)")
# An error of a library has that of the socket behind it, at most this far.
_MOST_CAUSES = 5
_MOST_READ = 500


def connection_message(error: BaseException) -> Message | None:
    """Why a connection failed, if this error or one that it comes from tells."""
    return next((message for each in _causes(error) if (message := _message_of(each))), None)


def message_in_text(text: str) -> Message | None:
    """Why a connection failed, by the first error number in a text of another program."""
    found = _NUMBER_IN_TEXT.search(text[:_MOST_READ])
    return _BY_NUMBER.get(int(next(filter(None, found.groups())))) if found else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ if cause.__suppress_context__ else cause.__context__


def _message_of(error: BaseException) -> Message | None:
    match error:
        case socket.gaierror():
            return Message("fetch.host_not_found")
        case TimeoutError():
            return Message("fetch.timeout")
        case OSError() if error.errno in _BY_NUMBER:
            return _BY_NUMBER[error.errno]
    return message_in_text(str(error))
