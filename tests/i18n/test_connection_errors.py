"""A failed connection is told in words, without the numbers and addresses of the operating system's text."""

import asyncio
import errno
import socket

import pytest

from feedmill.i18n.connection_errors import connection_message, message_in_text
from feedmill.i18n.translator import translator

REFUSED = OSError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 9)")
SEVERAL = OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 9), [Errno 111] Connect call failed")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (REFUSED, "the server refuses the connection"),
        (SEVERAL, "the server refuses the connection"),
        (
            ConnectionError("Error 111 connecting to localhost:9. Connection refused."),
            "the server refuses the connection",
        ),
        (ConnectionResetError(errno.ECONNRESET, "reset by peer"), "the server closed the connection"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "the server can't be reached over the network"),
        (socket.gaierror(-2, "Name or service not known"), "the host name was not found"),
        (TimeoutError(), "the server took too long"),
    ],
)
def test_a_failed_connection_is_told_in_words(error: Exception, words: str) -> None:
    assert str(connection_message(error)) == words


def test_an_error_of_a_library_is_told_by_the_one_behind_it() -> None:
    told = []
    try:
        try:
            raise REFUSED
        except OSError:
            raise LookupError("can't do it")  # noqa: B904 - libraries raise so
    except LookupError as error:
        told.append(connection_message(error))

    assert translator("zh_CN").render(told[0]) == "服务器拒绝了连接"


def test_an_error_without_a_known_number_has_no_words_of_ours() -> None:
    assert connection_message(ValueError("NOAUTH Authentication required")) is None
    assert connection_message(OSError(errno.ENOSPC, "No space left on device")) is None
    assert message_in_text("Error 99999 connecting") is None


def test_a_long_text_is_not_searched_to_its_end() -> None:
    assert message_in_text("x" * 1_000_000 + " [Errno 111]") is None


def test_the_connection_of_a_closed_port_is_refused_in_words() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

    with pytest.raises(OSError, match="Connect call failed") as caught:
        asyncio.run(asyncio.open_connection("localhost", port))  # type: ignore[arg-type]

    assert str(connection_message(caught.value)) == "the server refuses the connection"
