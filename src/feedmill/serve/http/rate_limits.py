"""Limits the requests per caller with a token bucket.

The buckets are in the memory of this process, which they protect; several processes can serve several times as much.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from math import ceil

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.serve.http.problem_json import problem_response
from feedmill.serve.http.session_cookie import SESSION_COOKIE

# With more callers than this, the bucket of the one that has been idle longest is dropped.
MAX_CALLERS = 10_000


class RateLimit:
    """ASGI middleware that answers 429 to callers that exceed the limit."""

    def __init__(self, app: ASGIApp, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._per_second = per_minute / 60
        self._burst = max(per_minute / 4, 1)
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self._wait(scope) if scope["type"] == "http" and self._per_second else 0.0
        if not wait:
            await self._app(scope, receive, send)
            return
        seconds = ceil(wait)
        message = f"too many requests: ask again in {seconds} s"
        await problem_response(429, "too_many", message, headers={"Retry-After": str(seconds)})(scope, receive, send)

    def _wait(self, scope: Scope) -> float:
        """Seconds until the caller may send a request. A new key also takes from the bucket of the address.

        Otherwise a client that invents a key for each request would have a full bucket each time.
        """
        credential, address = _bucket_keys(scope)
        wait = self._take(address) if credential is None or credential not in self._buckets else 0.0
        return wait or (self._take(credential) if credential else 0.0)

    def _take(self, name: bytes) -> float:
        """Takes one token from the bucket and returns 0; if it is empty, the seconds until it has one."""
        now = self._clock()
        left, then = self._buckets.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._buckets[name] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second


def _bucket_keys(scope: Scope) -> tuple[bytes | None, bytes]:
    """The keys of the two buckets: that of the API key or session, if there is one, and that of the address."""
    connection = HTTPConnection(scope)
    credential = connection.headers.get("authorization") or connection.cookies.get(SESSION_COOKIE)
    address = connection.client.host if connection.client else ""
    return _digest(credential) if credential else None, _digest(address)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
