"""The calls, in the words of the API."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, TypeVar

import msgspec

from feedmill.client.answers import (
    Added,
    Count,
    Discovery,
    Entry,
    EntryDetail,
    Feed,
    FeedEnded,
    Folder,
    Job,
    Label,
    Leased,
    Me,
    Page,
    PoolItem,
    Started,
    Swept,
)
from feedmill.client.connection import Connection, Problem, Query

Kind = Literal["titles", "contents"]
View = Literal["unread", "all", "starred", "later", "history"]
Item = TypeVar("Item")


class Feedmill:
    """One Feedmill, asked with one key. `pools` hands out what its pools hold."""

    def __init__(self, url: str, key: str) -> None:
        self._asks = Connection(url, key)
        self.pools = Pools(self._asks)

    async def __aenter__(self) -> "Feedmill":
        await self._asks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._asks.__aexit__(kind, error, where)

    async def me(self) -> Me:
        """Whose key this is, and what it may do."""
        return await self._asks.ask("GET", "/me", Me)

    # --- feeds

    async def discover(self, url: str) -> Discovery:
        """The feeds at an address, or of the page there."""
        return await self._asks.ask("POST", "/feeds/discover", Discovery, {"url": url})

    async def subscribe(self, url: str, **choices: Any) -> Added:
        """Subscribes; `choices` are `title`, `folder`, `interval_seconds` and what else the API takes."""
        return await self._asks.ask("POST", "/feeds", Added, {"url": url} | choices)

    async def feeds(self) -> list[Feed]:
        return (await self._asks.ask("GET", "/feeds", Page[Feed])).items

    async def feed(self, subscription_id: int) -> Feed:
        return await self._asks.ask("GET", f"/feeds/{subscription_id}", Feed)

    async def change_feed(self, subscription_id: int, **changes: Any) -> Feed:
        return await self._asks.ask("PATCH", f"/feeds/{subscription_id}", Feed, changes)

    async def unsubscribe(self, subscription_id: int) -> None:
        await self._asks.read("DELETE", f"/feeds/{subscription_id}")

    async def refresh(self, subscription_id: int) -> Started:
        return await self._asks.ask("POST", f"/feeds/{subscription_id}/refresh", Started)

    async def refresh_all(self, folder_id: int | None = None) -> Started:
        return await self._asks.ask("POST", "/feeds/refresh-all", Started, {"folder_id": folder_id})

    async def import_opml(self, opml: bytes) -> int | None:
        """The job that fetches what was imported; None when nothing was new."""
        body = await self._asks.read("POST", "/feeds/import", data=opml)
        job_id: int | None = msgspec.json.decode(body)["job_id"]
        return job_id

    async def export_opml(self) -> bytes:
        return await self._asks.read("GET", "/feeds/export")

    async def folders(self) -> list[Folder]:
        return (await self._asks.ask("GET", "/folders", Page[Folder])).items

    # --- jobs

    async def job(self, job_id: int) -> Job:
        return await self._asks.ask("GET", f"/jobs/{job_id}", Job)

    async def cancel(self, job_id: int) -> Job:
        return await self._asks.ask("POST", f"/jobs/{job_id}/cancel", Job)

    async def watch(self, job_id: int) -> AsyncIterator[FeedEnded]:
        """Each feed of a job as it ends, until the last one has."""
        async for name, data in self._asks.events(f"/jobs/{job_id}/events"):
            if name == "feed":
                yield msgspec.json.decode(data, type=FeedEnded)

    # --- entries

    def entries(
        self, view: View = "unread", *, feed_id: int | None = None, folder_id: int | None = None,
        label_id: int | None = None, oldest_first: bool = False,
    ) -> AsyncIterator[Entry]:  # fmt: skip
        """All entries of a view, fetched page by page; `feed_id` is the id of a subscription."""
        order = "oldest" if oldest_first else "newest"
        query = {"view": view, "order": order, "feed_id": feed_id, "folder_id": folder_id, "label_id": label_id}
        return self._pages("/entries", Entry, query)

    def search(self, words: str) -> AsyncIterator[Entry]:
        """All entries that a search finds, the best first."""
        return self._pages("/search", Entry, {"q": words})

    async def entry(self, entry_id: int, *, raw: bool = False) -> EntryDetail:
        return await self._asks.ask("GET", f"/entries/{entry_id}", EntryDetail, query={"raw": raw})

    async def mark(
        self, entry_ids: Sequence[int], *, read: bool | None = None, starred: bool | None = None,
        later: bool | datetime | None = None, add_labels: Sequence[int] = (), remove_labels: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Changes up to a thousand entries at once; what is not said stays as it is."""
        until = later.isoformat() if isinstance(later, datetime) else later
        marks = {"read": read, "starred": starred, "later": until}
        wish = {name: value for name, value in marks.items() if value is not None}
        labels = {"add_labels": list(add_labels), "remove_labels": list(remove_labels)}
        await self._asks.read("POST", "/entries/mark", {"ids": list(entry_ids)} | wish | labels)

    async def mark_all_read(self, **narrowed: Any) -> Swept:
        """Marks all read, or what `feed_id`, `folder_id`, `label_id`, `older_than_days` leave of it."""
        return await self._asks.ask("POST", "/entries/mark-all", Swept, narrowed)

    async def undo(self, undo: str) -> None:
        await self._asks.read("POST", "/entries/undo", {"undo": undo})

    async def labels(self) -> list[Label]:
        return (await self._asks.ask("GET", "/labels", Page[Label])).items

    async def _pages(self, path: str, form: type[Item], query: Query) -> AsyncIterator[Item]:
        cursor: str | None = None
        while True:
            asked = {**query, "cursor": cursor, "limit": 200}
            page = await self._asks.ask("GET", path, Page[form], query=asked)  # type: ignore[valid-type]
            for item in page.items:
                yield item
            if page.next is None:
                return
            cursor = page.next


class Pools:
    """Content handed on: popped for good, or leased and acknowledged."""

    def __init__(self, asks: Connection) -> None:
        self._asks = asks

    async def pop(self, group: str, kind: Kind = "titles", n: int = 1) -> list[PoolItem]:
        """Items that nobody else ever gets; none when the pool is empty now."""
        try:
            return (await self._asks.ask("POST", f"/pools/{group}/{kind}/pop", Page[PoolItem], query={"n": n})).items
        except Problem as problem:
            if problem.code != "pool_empty":
                raise
            return []

    async def lease(self, group: str, kind: Kind = "titles", n: int = 1) -> Leased | None:
        """Items to be acknowledged in time; None when the pool is empty now."""
        try:
            return await self._asks.ask("POST", f"/pools/{group}/{kind}/lease", Leased, query={"n": n})
        except Problem as problem:
            if problem.code != "pool_empty":
                raise
            return None

    async def ack(self, group: str, kind: Kind, token: str, ids: Sequence[int]) -> int:
        """How many of them were still ours and are used now."""
        return await self._settle("ack", group, kind, token, ids)

    async def nack(self, group: str, kind: Kind, token: str, ids: Sequence[int]) -> int:
        """How many of them go back to the pool."""
        return await self._settle("nack", group, kind, token, ids)

    async def _settle(self, verb: str, group: str, kind: Kind, token: str, ids: Sequence[int]) -> int:
        body = {"token": token, "ids": list(ids)}
        return (await self._asks.ask("POST", f"/pools/{group}/{kind}/{verb}", Count, body)).count
