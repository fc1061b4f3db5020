"""How often one caller may ask: a bucket of requests that fills up again by and by.

Kept in this process alone: it protects the process, and several of them may serve several times as much.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from math import ceil

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.serve.rest.problems import problem

# More callers than this at a time, and the one that has been silent longest begins anew.
MOST_CALLERS = 10_000


class Rates:
    """ASGI middleware that answers 429 to whoever asks too often."""

    def __init__(
        self, inner: ASGIApp, per_minute: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._inner = inner
        self._per_second = per_minute / 60
        self._burst = max(per_minute / 4, 1)
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self._take(_name(scope)) if scope["type"] == "http" and self._per_second else 0.0
        if not wait:
            await self._inner(scope, receive, send)
            return
        seconds = ceil(wait)
        said = f"too many requests: ask again in {seconds} s"
        await problem(429, "too_many", said, headers={"Retry-After": str(seconds)})(scope, receive, send)

    def _take(self, name: bytes) -> float:
        """Takes one request out of the caller's bucket; else the seconds until there is one."""
        now = self._clock()
        left, then = self._buckets.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._buckets[name] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second


def _name(scope: Scope) -> bytes:
    """Whose bucket it is: the key's, the session's, or else the address's."""
    asking = HTTPConnection(scope)
    shown = asking.headers.get("authorization") or asking.cookies.get("feedmill_session")
    if shown is None:
        shown = asking.client.host if asking.client else ""
    return blake2b(shown.encode(), digest_size=16).digest()
