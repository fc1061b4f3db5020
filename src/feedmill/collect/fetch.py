"""Fetches a feed with one conditional request and up to three quick retries."""

import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Protocol

from feedmill.model.feed import Feed
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Retryable, Validators
from feedmill.outbound.client import DEFAULT_OPTIONS
from feedmill.outbound.fetch_limits import FetchLimits

QUICK_TRIES = 3
FIRST_DELAY = timedelta(seconds=2)
LONGEST_DELAY = timedelta(seconds=60)

Sleep = Callable[[float], Awaitable[None]]
Jitter = Callable[[], float]


class Fetcher(Protocol):
    """PORT: requests a URL; the outbound client, or a recorder around it."""

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        """Never raises for what a server does: that is an outcome."""


async def fetch_feed(
    web: Fetcher, feed: Feed, sleep: Sleep, jitter: Jitter = random.random, options: FetchOptions = DEFAULT_OPTIONS
) -> FetchOutcome:
    """The outcome of the last try; `sleep` waits between tries, and may let other jobs run meanwhile."""
    validators = Validators(feed.etag, feed.last_modified) if feed.etag or feed.last_modified else None
    outcome = await web.get(feed.url, validators, options=options)
    for attempt in range(QUICK_TRIES):
        if not isinstance(outcome, Retryable):
            break
        await sleep(retry_delay(attempt, jitter()).total_seconds())
        again = await web.get(feed.url, validators, options=options)
        # Without a turn for another try, the last failure is the outcome.
        outcome = outcome if isinstance(again, Deferred) else again
    return outcome


def retry_delay(attempt: int, jitter: float) -> timedelta:
    """2 s, 4 s, 8 s … up to 60 s, each shortened by up to half, so that many retries don't come at once."""
    delay: timedelta = FIRST_DELAY * 2**attempt
    return min(delay, LONGEST_DELAY) * (1 - jitter / 2)
