"""One person who reads all the time, for `bench/small_machine.py`: pages over HTTP, and how long each took.

Lists and their next pages, articles, marks and stars, and searches for common, rare and Chinese words.
"""

import asyncio
import re
import time
from collections import defaultdict
from itertools import cycle
from typing import Any

import aiohttp
from library_load import HAN, RARE, RARE_HAN, WORDS

NAME, PASSWORD = "alice", "correct horse battery"
# Between two pages. A person reads longer; so many are for the percentiles.
PAUSE = 0.2
ARTICLES = 3
SEARCHES = {
    "search, common word": WORDS[0],
    "search, rare word": RARE,
    "search, 数据": HAN[0],
    "search, 麒麟": RARE_HAN,
}
LISTS = ("/unread", "/all", "/starred")
ENTRY_ID = re.compile(r'data-id="(\d+)"')
NEXT_PAGE = re.compile(r'class="more"><a class="button" href="([^"]+)"')
CSRF = re.compile(r'<meta name="csrf" content="([0-9a-f]+)">')


class BusyReader:
    """`times` has the seconds of every request by part of the run and kind of page; `part` is the present one."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self.http = http
        self.part: str | None = None
        self.times: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.csrf = ""

    async def sign_in(self) -> None:
        body = {"name": NAME, "password": PASSWORD}
        async with self.http.post("/api/sessions", json=body) as response:
            assert response.status in (200, 201), await response.text()
        self.csrf = CSRF.findall(await self.get("list", "/unread"))[0]

    def pages(self, wanted: str) -> int:
        """How many pages were read in a part of the run."""
        return sum(len(times) for (part, _), times in self.times.items() if part == wanted)

    async def keep_reading(self) -> None:
        """Reads until it is cancelled."""
        searches, lists = cycle(SEARCHES.items()), cycle(LISTS)
        while True:
            found = await self.get("list", next(lists))
            if more := NEXT_PAGE.search(found):
                found += await self.get("next page", more[1].replace("&amp;", "&"))
            for number, entry_id in enumerate(ENTRY_ID.findall(found)[-ARTICLES:]):
                await self.get("article", f"/item/{entry_id}")
                await self.mark(f"{'read' if number else 'star'}:{entry_id}")
            kind, word = next(searches)
            await self.get(kind, "/search", q=word)

    async def get(self, kind: str, path: str, **query: str) -> str:
        return await self._send(kind, "GET", path, params=query)

    async def mark(self, do: str) -> None:
        headers = {"X-CSRF-Token": self.csrf, "Accept": "application/json"}
        await self._send("mark", "POST", "/marks", data={"do": do}, headers=headers)

    async def _send(self, kind: str, method: str, path: str, **rest: Any) -> str:
        part, started = self.part, time.perf_counter()
        async with self.http.request(method, path, **rest) as response:
            text = await response.text()
            assert response.status == 200, f"{path}: {response.status} {text[:300]}"
        # Not what began in one part of the run and ended in another.
        if part is not None and part == self.part:
            self.times[part, kind].append(time.perf_counter() - started)
        await asyncio.sleep(PAUSE)
        return text
