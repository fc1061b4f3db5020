"""A server of feeds on loopback that remembers every article it published and every request."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tests.scripted_web.server import Answer, ClientConnection, ReceivedRequest, Web
from tests.waiting import slow_pace

# More than any test publishes in one feed, so that no article leaves a feed before it can be fetched.
WINDOW = 100
POISON = "Poison"

HEAD = "<rss version='2.0'><channel><title>{path}</title><link>http://example.org{path}</link>"
ITEM = (
    "<item><guid isPermaLink='false'>{guid}</guid><title>{title}</title><link>http://example.org/{guid}</link>"
    "<pubDate>Sun, 15 Feb 2026 10:00:00 GMT</pubDate><description>&lt;p&gt;{title}&lt;/p&gt;"
    "&lt;img src='http://127.0.0.1:9/{guid}.png'&gt;</description></item>"
)


@dataclass(frozen=True)
class Article:
    guid: str
    title: str


class FeedServer:
    """Feeds `/0` … `/n-1`, each with some articles; they answer conditional requests with 304."""

    def __init__(self, web: Web, feeds: int, articles: int = 3) -> None:
        self.web = web
        self.articles: dict[str, list[Article]] = {f"/{number}": [] for number in range(feeds)}
        self.delay = 0.0
        self._gates: dict[str, asyncio.Event] = {}
        for path in self.articles:
            self.publish(path, articles)
            web.serve(path, self._answer_slowly)

    @property
    def paths(self) -> list[str]:
        return list(self.articles)

    @property
    def urls(self) -> dict[str, str]:
        return {self.web.url(path): path for path in self.articles}

    def publish(self, path: str, count: int = 1) -> None:
        offered = self.articles[path]
        for number in range(len(offered), len(offered) + count):
            offered.append(Article(f"a{path[1:]}-{number}", f"Article {number} of {path}"))
        assert len(offered) <= WINDOW, "a test published more than its feed can show"

    def poison(self, path: str) -> None:
        """Sets the feed's titles to a word on which a process may be told to fail."""
        self.articles[path] = [replace(article, title=POISON) for article in self.articles[path]]

    def asked(self, since: int = 0) -> Counter[str]:
        """The number of requests for each feed, from the request with that number on."""
        return Counter(seen.path for seen in self.web.requests[since:] if seen.path in self.articles)

    @property
    def requests(self) -> int:
        return len(self.web.requests)

    @contextmanager
    def held(self, *paths: str) -> Iterator[None]:
        """Holds back the responses of these feeds within the block, by default of all."""
        gate = asyncio.Event()
        self._gates = dict.fromkeys(paths or self.paths, gate)
        try:
            yield
        finally:
            self._gates = {}
            gate.set()

    async def _answer_slowly(self, seen: ReceivedRequest, wire: ClientConnection) -> None:
        answer = self._answer(seen)
        if self.delay:
            await slow_pace(self.delay)
        if gate := self._gates.get(seen.path):
            await gate.wait()
        await wire.send(answer.encode())

    def _answer(self, seen: ReceivedRequest) -> Answer:
        offered = self.articles[seen.path]
        headers = {"ETag": f'"{len(offered)}"', "Connection": "close"}
        if seen.headers.get("if-none-match") == headers["ETag"]:
            return Answer(status=304, headers=headers)
        items = "".join(ITEM.format(guid=article.guid, title=article.title) for article in reversed(offered))
        body = f"{HEAD.format(path=seen.path)}{items}</channel></rss>".encode()
        return Answer(body, headers=headers | {"Content-Type": "application/rss+xml"})
