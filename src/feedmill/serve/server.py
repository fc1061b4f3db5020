"""The web server, ended by a signal so that what was opened before it is closed after it."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Takes a signal as the wish to end. Uvicorn itself would raise it again and so kill what is left to do."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
