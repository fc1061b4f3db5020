"""Fetching a feed: one conditional request, and a few quick tries more when the failure may pass."""

import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Protocol

import msgspec

from feedmill.model.feed import Feed
from feedmill.model.outcome import Deferred, Outcome, Retryable, Validators
from feedmill.outbound.client import NO_OPTIONS
from feedmill.outbound.options import FetchOptions, Limits

QUICK_TRIES = 3
FIRST_DELAY = timedelta(seconds=2)
LONGEST_DELAY = timedelta(seconds=60)

Rest = Callable[[float], Awaitable[None]]
Dice = Callable[[], float]


class Web(Protocol):
    """What answers to a URL: the outbound client, or an answer that is there already."""

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: Limits | None = None,
        options: FetchOptions = NO_OPTIONS,
    ) -> Outcome:
        """Whatever the server does, an outcome comes back."""


async def fetch_feed(web: Web, feed: Feed, rest: Rest, dice: Dice = random.random) -> Outcome:
    """The feed's answer; `rest` sleeps between tries (and may let others work meanwhile)."""
    validators = Validators(feed.etag, feed.last_modified) if feed.etag or feed.last_modified else None
    options = read_options(feed.http_options)
    outcome = await web.get(feed.url, validators, options=options)
    for attempt in range(QUICK_TRIES):
        if not isinstance(outcome, Retryable):
            break
        await rest(quick_delay(attempt, dice()).total_seconds())
        again = await web.get(feed.url, validators, options=options)
        # No turn for another try: what is known is that the feed failed.
        outcome = outcome if isinstance(again, Deferred) else again
    return outcome


def quick_delay(attempt: int, dice: float) -> timedelta:
    """2 s, 4 s, 8 s … up to 60 s, each shortened by up to half so that many don't come back together."""
    whole: timedelta = FIRST_DELAY * 2**attempt
    return min(whole, LONGEST_DELAY) * (1 - dice / 2)


def read_options(text: str | None) -> FetchOptions:
    return NO_OPTIONS if text is None else msgspec.json.decode(text, type=FetchOptions)
