"""A scripted web in a thread of its own, for tests that block on a browser."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.scripted_web import Web

PATIENCE = 60


@contextmanager
def web_in_thread() -> Iterator[Web]:
    """A web for the block; what it serves may be changed at any time."""
    loop, web = asyncio.new_event_loop(), Web()
    thread = threading.Thread(target=loop.run_forever, name="web")
    thread.start()
    asyncio.run_coroutine_threadsafe(web.__aenter__(), loop).result(PATIENCE)
    try:
        yield web
    finally:
        asyncio.run_coroutine_threadsafe(web.__aexit__(None, None, None), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
