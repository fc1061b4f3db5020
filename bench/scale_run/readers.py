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
# Milliseconds that 99 of 100 pages may take.
PAGE_GOAL, SEARCH_GOAL = 150, 300
ENTRY_ID = re.compile(r'data-id="(\d+)"')
FEED_ID = re.compile(r'data-feed="(\d+)"')
NEXT_PAGE = re.compile(r'class="more"><a class="button" href="([^"]+)"')
LIST, NEXT, ONE_FEED, ARTICLE = "list", "next page", "one feed", "article"
FEED_LIST, ENTRY_LIST = "feeds of the API", "entries of the API"
SEARCHES = ("search, common word", "search, rare word", "search, two words", "search, phrase", "search, Chinese")
# Kinds of pages that are also counted together.
LISTS, SEARCH = "lists", "searches"
GROUPS = dict.fromkeys((LIST, NEXT, ONE_FEED), LISTS) | dict.fromkeys(SEARCHES, SEARCH)


class Reader:
    """`times` has the simulated hour, the kind of page and the milliseconds of each request, `turns` how often all
    pages were read."""

    def __init__(self, http: aiohttp.ClientSession, clock: FastClock) -> None:
        self._http, self._clock = http, clock
        self.times: list[tuple[float, str, float]] = []
        self.turns = 0
        self.failures: list[str] = []

    async def keep_reading(self) -> None:
        """Reads until it is cancelled."""
        async with self._http.post("/api/sessions", json={"name": READER, "password": PASSWORD}) as response:
            assert response.status in (200, 201), await response.text()
        while True:
            try:
                await self._read(self.turns)
            except (aiohttp.ClientError, TimeoutError) as error:
                self.failures.append(repr(error))
                await asyncio.sleep(1)
            self.turns += 1

    def missing_kinds(self) -> list[str]:
        """The kinds of pages that should have been read by now, and were not."""
        expected = {LIST, NEXT, ONE_FEED, ARTICLE, ENTRY_LIST, FEED_LIST} if self.turns else set()
        searches = {kind for turn in range(min(self.turns, len(SEARCHES))) for kind in searches_of(turn)}
        return sorted((expected | searches) - {kind for _, kind, _ in self.times})

    async def _read(self, turn: int) -> None:
        found = await self._get(LIST, ("/unread", "/all")[turn % 2])
        if more := NEXT_PAGE.search(found):
            await self._get(NEXT, more[1].replace("&amp;", "&"))
        for feed_id in FEED_ID.findall(found)[:1]:
            await self._get(ONE_FEED, f"/feed/{feed_id}")
        for entry_id in ENTRY_ID.findall(found)[-2:]:
            await self._get(ARTICLE, f"/item/{entry_id}")
        for kind in searches_of(turn):
            await self._get(kind, "/search", q=queries(turn)[kind])
        headers = {"Authorization": f"Bearer {API_KEY}"}
        await self._get(ENTRY_LIST, "/api/entries", headers, view="unread")
        if turn % 5 == 0:
            await self._get(FEED_LIST, "/api/feeds", headers)

    async def _get(self, kind: str, path: str, headers: dict[str, str] | None = None, **query: str) -> str:
        started = time.perf_counter()
        # A page that redirects, such as to the login, is not the one that is measured.
        async with self._http.get(path, params=query, headers=headers, allow_redirects=False) as response:
            text = await response.text()
        ms, hour = (time.perf_counter() - started) * 1000, (self._clock.seconds() - self._clock.start) / 3600
        if response.status == 200:
            self.times.append((hour, kind, ms))
        else:
            self.failures.append(f"{path}: {response.status} {text[:200]}")
        await asyncio.sleep(PAUSE)
        return text


def searches_of(turn: int) -> tuple[str, str]:
    return SEARCHES[2 * turn % len(SEARCHES)], SEARCHES[(2 * turn + 1) % len(SEARCHES)]


def queries(turn: int) -> dict[str, str]:
    """Searches that differ from turn to turn. Words of a phrase are seldom neighbours, as in most phrases."""
    known = words()
    common, other = known[turn % 8], known[20 + turn % 30]
    texts = (common, known[5000 + turn % 500], f"{common} {other}", f'"{common} {other}"', han_words()[turn % 50])
    return dict(zip(SEARCHES, texts, strict=True))


def percentiles(times: Sequence[tuple[float, str, float]]) -> dict[str, tuple[int, float, float]]:
    """By kind of page, and of all lists and all searches together, how many there were, p50 and p99 in milliseconds."""
    found: dict[str, list[float]] = {}
    for _, kind, ms in times:
        found.setdefault(kind, []).append(ms)
        if kind in GROUPS:
            found.setdefault(f"all {GROUPS[kind]}", []).append(ms)
    return {
        kind: (len(each), sorted(each)[len(each) // 2], sorted(each)[int(len(each) * 0.99)])
        for kind, each in sorted(found.items())
    }


def goal_of(kind: str) -> int | None:
    """The goal of its p99 in milliseconds; none for programs, which read whole lists of feeds."""
    if kind in (FEED_LIST, ENTRY_LIST):
        return None
    return SEARCH_GOAL if GROUPS.get(kind) == SEARCH or kind == f"all {SEARCH}" else PAGE_GOAL
