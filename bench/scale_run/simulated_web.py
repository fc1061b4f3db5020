"""A web of feeds in process memory: it stands in for the HTTP client, and answers by the feed's number and the time.

Turns at hosts are taken from the real pacer, with gaps shortened by the speed of the clock, and so is the time that a
server takes. What HTTP itself costs is not part of the run.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import formatdate

from articles import Article, rss, rss_item, write_article
from fast_clock import FastClock
from feed_profiles import DEAD, FLAKY, NO_VALIDATORS, SLOW, THROTTLING, WINDOW, FeedProfile, FeedProfiles

from feedmill.coordination.host_slots import HostSlots
from feedmill.i18n.messages import Message
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Freshness,
    HttpError,
    NotModified,
    Response,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.outbound.client import DEFAULT_OPTIONS
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.host_pacing import HostBusy, Pacer
from feedmill.outbound.urls import parse_url

HOST_GAP = 1.0
# Simulated seconds.
FASTEST, SPREAD, SLOW_ANSWER, TIMEOUT = 0.1, 0.4, 8.0, 30.0
RETRY_AFTER = 3600
AT_ONCE = 200
DATES = 3600


class SimulatedWeb:
    """A `Fetcher` of the feeds of `profiles`.

    `pool` is how many articles the stored entries have in common, `words` how many words an article has on average.
    """

    def __init__(self, profiles: FeedProfiles, clock: FastClock, pool: int, words: int, slots: HostSlots) -> None:
        self._profiles, self._clock, self._pool, self._words = profiles, clock, pool, words
        gap = timedelta(seconds=HOST_GAP / clock.speed)
        self._pacer = Pacer(slots, gap, max_wait=timedelta(seconds=max(30 / clock.speed, 0.2)))
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        feed = self._profiles.profile(number_of(url))
        try:
            async with self._pacer.turn(parse_url(url), self._slots, timedelta(seconds=30)):
                return await self._answer(feed, validators or Validators())
        except HostBusy as busy:
            return Deferred(url, url, self._clock.now() + busy.wait * self._clock.speed)

    async def _answer(self, feed: FeedProfile, validators: Validators) -> FetchOutcome:
        url, begun = feed.url, self._clock.now()
        quarter = int(begun.timestamp()) // 900 + feed.number
        if feed.answers == DEAD:
            return await self._dead(feed)
        if feed.answers == FLAKY and quarter % 10 == 0:
            return Retryable(url, url, "http_5xx", Message("fetch.status", status=503), 503)
        if feed.answers == THROTTLING and quarter % 3 == 0:
            wait = timedelta(seconds=RETRY_AFTER)
            return Throttled(url, url, 429, "url", wait, begun + wait)
        await self._clock.sleep(SLOW_ANSWER if feed.answers == SLOW else FASTEST + SPREAD * (feed.number % 10) / 10)
        newest = feed.newest_at(begun.timestamp())
        etag = None if feed.answers == NO_VALIDATORS else f'"{feed.number}-{newest}"'
        if etag and validators.etag == etag:
            return NotModified(url, url, Validators(etag), Freshness(), None, begun, self._clock.now() - begun)
        return self._response(feed, self.body(feed, newest), etag, begun)

    async def _dead(self, feed: FeedProfile) -> FetchOutcome:
        url = feed.url
        match feed.number % 4:
            case 0:
                return Retryable(url, url, "dns", Message("fetch.host_not_found"))
            case 1:
                await self._clock.sleep(TIMEOUT)
                return Retryable(url, url, "timeout", Message("fetch.timeout"))
            case _:
                return HttpError(url, url, 404)

    def _response(self, feed: FeedProfile, body: bytes, etag: str | None, begun: datetime) -> Response:
        headers: Mapping[str, str] = {"Content-Type": "application/rss+xml"} | ({"ETag": etag} if etag else {})
        return Response(
            url=feed.url,
            final_url=feed.url,
            status=200,
            headers=headers,
            body=body,
            content_type="application/rss+xml",
            validators=Validators(etag),
            freshness=Freshness(),
            permanent_url=None,
            delimited=True,
            received_bytes=len(body),
            fetched_at=begun,
            elapsed=self._clock.now() - begun,
        )

    def body(self, feed: FeedProfile, newest: int) -> bytes:
        places = range(newest, max(newest - WINDOW, -1), -1)
        return rss(f"Feed {feed.number}", "".join(self._item(feed, place) for place in places))

    def _item(self, feed: FeedProfile, place: int) -> str:
        is_stored = place < feed.stored
        key = pool_place(feed.number, place, self._pool) if is_stored else f"{feed.number}.{place}"
        article: Article = write_article(key, self._words)
        return rss_item(article, guid_of(feed.number, place), http_date(feed.published_at(place)))


def number_of(url: str) -> int:
    return int(url.rpartition("/")[2].removesuffix(".xml"))


def guid_of(number: int, place: int) -> str:
    return f"{number}-{place}"


def pool_place(number: int, place: int, pool: int) -> int:
    """Which article of the pool a stored entry has; `load.py` computes the same in SQL."""
    return (number * 7919 + place * 104_729) % pool


def http_date(seconds: int) -> str:
    return formatdate(seconds, usegmt=True)
