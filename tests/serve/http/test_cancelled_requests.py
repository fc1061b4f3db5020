"""Requests that are cancelled when the server stops leave no traceback in the log."""

import asyncio
import logging
import sys

from feedmill.serve.http.connections.server import is_no_cancelled_request


def test_a_stream_that_ends_with_the_server_is_not_logged() -> None:
    assert not is_no_cancelled_request(_record("Exception in ASGI application", asyncio.CancelledError()))
    assert not is_no_cancelled_request(_record("Cancel 3 running task(s), timeout graceful shutdown exceeded"))


def test_an_error_of_a_request_is_logged() -> None:
    assert is_no_cancelled_request(_record("Exception in ASGI application", ValueError("broken")))


def _record(message: str, error: BaseException | None = None) -> logging.LogRecord:
    try:
        if error:
            raise error
    except BaseException:
        return logging.LogRecord("uvicorn.error", logging.ERROR, __file__, 1, message, (), sys.exc_info())
    return logging.LogRecord("uvicorn.error", logging.ERROR, __file__, 1, message, (), None)
