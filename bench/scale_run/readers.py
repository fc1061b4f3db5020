"""Somebody with thousands of feeds who reads during the day: pages and the API over HTTP, and how long each took."""

import asyncio
import re
import time
from collections.abc import Sequence

import aiohttp
from articles import han_words, words
from fast_clock import FastClock
from load import API_KEY, PASSWORD, READER

# Real seconds between two requests.
PAUSE = 0.25
ENTRY_ID = re.compile(r'data-id="(\d+)"')
NEXT_PAGE = re.compile(r'class="more"><a class="button" href="([^"]+)"')
LIST, NEXT, ARTICLE, FEED_LIST, COUNTS = "list", "next page", "article", "feeds of the API", "entries of the API"
SEARCHES = ("search, common word", "search, rare word", "search, two words", "search, phrase", "search, Chinese")


class Reader:
    """`times` has the simulated hour, the kind of page and the milliseconds of each request."""

    def __init__(self, http: aiohttp.ClientSession, clock: FastClock) -> None:
        self._http, self._clock = http, clock
        self.times: list[tuple[float, str, float]] = []
        self.failures: list[str] = []

    async def keep_reading(self) -> None:
        """Reads until it is cancelled."""
        async with self._http.post("/api/sessions", json={"name": READER, "password": PASSWORD}) as response:
            assert response.status in (200, 201), await response.text()
        number = 0
        while True:
            try:
                await self._read(number)
            except (aiohttp.ClientError, TimeoutError) as error:
                self.failures.append(repr(error))
                await asyncio.sleep(1)
            number += 1

    async def _read(self, number: int) -> None:
        found = await self._get(LIST, ("/unread", "/all")[number % 2])
        if more := NEXT_PAGE.search(found):
            await self._get(NEXT, more[1].replace("&amp;", "&"))
        for entry_id in ENTRY_ID.findall(found)[-2:]:
            await self._get(ARTICLE, f"/item/{entry_id}")
        kind = SEARCHES[number % len(SEARCHES)]
        await self._get(kind, "/search", q=queries(number)[kind])
        headers = {"Authorization": f"Bearer {API_KEY}"}
        await self._get(COUNTS, "/api/entries", headers, view="unread")
        if number % 5 == 0:
            await self._get(FEED_LIST, "/api/feeds", headers)

    async def _get(self, kind: str, path: str, headers: dict[str, str] | None = None, **query: str) -> str:
        started = time.perf_counter()
        async with self._http.get(path, params=query, headers=headers) as response:
            text = await response.text()
        ms, hour = (time.perf_counter() - started) * 1000, (self._clock.seconds() - self._clock.start) / 3600
        if response.status == 200:
            self.times.append((hour, kind, ms))
        else:
            self.failures.append(f"{path}: {response.status} {text[:200]}")
        await asyncio.sleep(PAUSE)
        return text


def queries(number: int) -> dict[str, str]:
    """Searches that differ from turn to turn. Words of a phrase are seldom neighbours, as in most phrases."""
    known = words()
    common, other = known[number % 8], known[20 + number % 30]
    texts = (common, known[5000 + number % 500], f"{common} {other}", f'"{common} {other}"', han_words()[number % 50])
    return dict(zip(SEARCHES, texts, strict=True))


def percentiles(times: Sequence[tuple[float, str, float]]) -> dict[str, tuple[int, float, float]]:
    """By kind of page how many there were, p50 and p99 in milliseconds."""
    found: dict[str, list[float]] = {}
    for _, kind, ms in times:
        found.setdefault(kind, []).append(ms)
    return {
        kind: (len(each), sorted(each)[len(each) // 2], sorted(each)[int(len(each) * 0.99)])
        for kind, each in sorted(found.items())
    }
