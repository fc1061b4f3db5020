"""Limits the requests per caller with a token bucket.

Kept in this process alone: it protects the process, and several of them may serve several times as much.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from math import ceil

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.serve.http.cookies import SESSION_COOKIE
from feedmill.serve.http.problem_json import problem_response

# More callers than this at a time, and the one that has been silent longest begins anew.
MAX_CALLERS = 10_000


class RateLimit:
    """ASGI middleware that answers 429 to whoever asks too often."""

    def __init__(self, inner: ASGIApp, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner = inner
        self._per_second = per_minute / 60
        self._burst = max(per_minute / 4, 1)
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self._wait(scope) if scope["type"] == "http" and self._per_second else 0.0
        if not wait:
            await self._inner(scope, receive, send)
            return
        seconds = ceil(wait)
        said = f"too many requests: ask again in {seconds} s"
        await problem_response(429, "too_many", said, headers={"Retry-After": str(seconds)})(scope, receive, send)

    def _wait(self, scope: Scope) -> float:
        """Seconds until the caller may ask; who shows a key for the first time also takes from their address's bucket.

        Else whoever makes up a key for each request would have a full bucket each time.
        """
        shown, address = _bucket_keys(scope)
        wait = self._take(address) if shown is None or shown not in self._buckets else 0.0
        return wait or (self._take(shown) if shown else 0.0)

    def _take(self, name: bytes) -> float:
        """Takes one request out of the caller's bucket; else the seconds until there is one."""
        now = self._clock()
        left, then = self._buckets.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._buckets[name] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second


def _bucket_keys(scope: Scope) -> tuple[bytes | None, bytes]:
    """Whose buckets they are: the key's or the session's, if one is shown, and the address's."""
    asking = HTTPConnection(scope)
    shown = asking.headers.get("authorization") or asking.cookies.get(SESSION_COOKIE)
    address = asking.client.host if asking.client else ""
    return _digest(shown) if shown else None, _digest(address)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
