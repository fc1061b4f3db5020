"""The class `Feedmill`: one method for each call of the API."""

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Required, TypedDict

from feedmill.api_schemas.current_user import CurrentUser
from feedmill.api_schemas.entries import (
    ArticleResponse,
    EntryChangePage,
    EntryIdPage,
    EntryPage,
    EntryResponse,
    EntryTextPage,
    EntryTextResponse,
    LabelPage,
    LabelResponse,
    MarkAllReadResponse,
    NewEntryPage,
    SearchResultPage,
)
from feedmill.api_schemas.feeds import (
    DiscoverResponse,
    FeedPage,
    FeedResponse,
    FetchPage,
    FetchResponse,
    RefreshResponse,
    SubscribeResponse,
)
from feedmill.api_schemas.folders import FolderPage, FolderResponse
from feedmill.api_schemas.jobs import FeedOutcomeResponse, JobDetailResponse, JobResponse
from feedmill.api_schemas.opml_import import ImportResponse
from feedmill.api_schemas.pools import (
    AddedTextsResponse,
    ItemCountResponse,
    LeaseResponse,
    PoolGrantPage,
    PoolGrantResponse,
    PoolItemResponse,
    PopResponse,
)
from feedmill.client.connection import ApiConnection, ApiError, Query

PoolKindName = Literal["titles", "contents"]
PoolRightName = Literal["take", "fill"]
TEXTS_AT_ONCE = 200
EntryViewName = Literal["unread", "all", "starred", "later", "history"]


# What one request puts into a pool: below the limits of the server, whatever characters the texts have.
TEXTS_AT_ONCE = 1000
CHARACTERS_AT_ONCE = 600_000


class PoolTextToAdd(TypedDict, total=False):
    """A text for a pool. `id` is yours: the same one is stored once; by default it is the text's hash."""

    text: Required[str]
    id: str | int
    batch_id: int


class Feedmill:
    """A client for one server with one API key. `pools` has the methods for pools."""

    def __init__(self, url: str, key: str) -> None:
        self._connection = ApiConnection(url, key)
        self.pools = PoolsClient(self._connection)

    async def __aenter__(self) -> "Feedmill":
        await self._connection.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._connection.__aexit__(kind, error, where)

    async def me(self) -> CurrentUser:
        """The owner of the key, and what the key may do."""
        return await self._connection.ask("GET", "/me", CurrentUser)

    # --- feeds

    async def discover(self, url: str) -> DiscoverResponse:
        """The feeds at a URL, or of the page there."""
        return await self._connection.ask("POST", "/feeds/discover", DiscoverResponse, {"url": url})

    async def subscribe(self, url: str, **choices: Any) -> SubscribeResponse:
        """Subscribes; `choices` are `title`, `folder`, `interval_seconds` and other fields of the API."""
        return await self._connection.ask("POST", "/feeds", SubscribeResponse, {"url": url} | choices)

    async def feeds(self) -> list[FeedResponse]:
        return (await self._connection.ask("GET", "/feeds", FeedPage)).items

    async def feed(self, subscription_id: int) -> FeedResponse:
        return await self._connection.ask("GET", f"/feeds/{subscription_id}", FeedResponse)

    async def change_feed(self, subscription_id: int, **changes: Any) -> FeedResponse:
        return await self._connection.ask("PATCH", f"/feeds/{subscription_id}", FeedResponse, changes)

    async def unsubscribe(self, subscription_id: int) -> None:
        await self._connection.read("DELETE", f"/feeds/{subscription_id}")

    async def fetches(self, subscription_id: int, most: int = 50) -> list[FetchResponse]:
        """The last fetches of a feed, at most 200, the newest first."""
        path = f"/feeds/{subscription_id}/fetches"
        return (await self._connection.ask("GET", path, FetchPage, query={"limit": most})).items

    async def refresh(self, subscription_id: int) -> RefreshResponse:
        return await self._connection.ask("POST", f"/feeds/{subscription_id}/refresh", RefreshResponse)

    async def refresh_all(self, folder_id: int | None = None) -> RefreshResponse:
        return await self._connection.ask("POST", "/feeds/refresh-all", RefreshResponse, {"folder_id": folder_id})

    async def import_opml(self, opml: bytes) -> int | None:
        """Imports OPML; returns the id of the job that fetches the new feeds, None when none was new."""
        body = await self._connection.read("POST", "/feeds/import", data=opml)
        return ImportResponse.model_validate_json(body).job_id

    async def export_opml(self) -> bytes:
        return await self._connection.read("GET", "/feeds/export")

    async def folders(self) -> list[FolderResponse]:
        return (await self._connection.ask("GET", "/folders", FolderPage)).items

    # --- jobs

    async def job(self, job_id: int) -> JobDetailResponse:
        return await self._connection.ask("GET", f"/jobs/{job_id}", JobDetailResponse)

    async def cancel(self, job_id: int) -> JobResponse:
        return await self._connection.ask("POST", f"/jobs/{job_id}/cancel", JobResponse)

    async def watch(self, job_id: int) -> AsyncIterator[FeedOutcomeResponse]:
        """Yields the outcome of each feed of a job as it ends, until the last."""
        async for name, data in self._connection.events(f"/jobs/{job_id}/events"):
            if name == "feed":
                yield FeedOutcomeResponse.model_validate_json(data)

    # --- entries

    def entries(
        self,
        view: EntryViewName = "unread",
        *,
        feed_id: int | None = None,
        folder_id: int | None = None,
        label_id: int | None = None,
        oldest_first: bool = False,
    ) -> AsyncIterator[EntryResponse]:
        """All entries of a view, fetched page by page; `feed_id` is the id of a subscription."""
        order = "oldest" if oldest_first else "newest"
        query = {"view": view, "order": order, "feed_id": feed_id, "folder_id": folder_id, "label_id": label_id}
        return self._pages("/entries", EntryPage, query)

    def search(self, words: str) -> AsyncIterator[EntryResponse]:
        """All entries that match a search, the best first."""
        return self._pages("/search", SearchResultPage, {"q": words})

    async def entry(self, entry_id: int, *, raw: bool = False) -> ArticleResponse:
        return await self._connection.ask("GET", f"/entries/{entry_id}", ArticleResponse, query={"raw": raw})

    # --- keeping a copy of entries

    async def entry_ids(
        self,
        view: EntryViewName = "unread",
        *,
        feed_id: int | None = None,
        folder_id: int | None = None,
        label_id: int | None = None,
    ) -> tuple[list[int], str]:
        """The ids of all entries of a view, and the cursor for what comes and changes after that."""
        query = {"view": view, "feed_id": feed_id, "folder_id": folder_id, "label_id": label_id}
        page = await self._connection.ask("GET", "/entries/ids", EntryIdPage, query=query)
        ids, since = page.ids, page.since
        while page.next is not None:
            page = await self._connection.ask("GET", "/entries/ids", EntryIdPage, query=query | {"cursor": page.next})
            ids += page.ids
        return ids, since

    async def entries_since(self, since: str = "") -> NewEntryPage:
        """Up to 200 entries that came since the cursor; without one, from the first on. Go on with its `since`."""
        return await self._connection.ask("GET", "/entries", NewEntryPage, query={"since": since, "limit": 200})

    async def changes_since(self, since: str) -> EntryChangePage:
        """Which entries were marked or labelled since the cursor, and which are gone. Go on with its `since`."""
        return await self._connection.ask("GET", "/entries/changes", EntryChangePage, query={"since": since})

    async def entry_texts(self, entry_ids: Sequence[int]) -> list[EntryTextResponse]:
        """Any number of entries with their texts, without those that do not exist."""
        found: list[EntryTextResponse] = []
        for start in range(0, len(entry_ids), TEXTS_AT_ONCE):
            ids = ",".join(map(str, entry_ids[start : start + TEXTS_AT_ONCE]))
            found += (await self._connection.ask("GET", "/entries/texts", EntryTextPage, query={"ids": ids})).items
        return found

    async def mark(
        self,
        entry_ids: Sequence[int],
        *,
        read: bool | None = None,
        starred: bool | None = None,
        later: bool | datetime | None = None,
        add_labels: Sequence[int] = (),
        remove_labels: Sequence[int] = (),
        whole_story: bool = False,
    ) -> None:
        """Marks up to a thousand entries at once; None leaves a mark unchanged.

        `whole_story`: what is marked as read is read in your other feeds that have it, too.
        """
        until = later.isoformat() if isinstance(later, datetime) else later
        marks = {"read": read, "starred": starred, "later": until, "whole_story": whole_story or None}
        changes = {name: value for name, value in marks.items() if value is not None}
        labels = {"add_labels": list(add_labels), "remove_labels": list(remove_labels)}
        await self._connection.read("POST", "/entries/mark", {"ids": list(entry_ids)} | changes | labels)

    async def mark_all_read(
        self,
        *,
        feed_id: int | None = None,
        folder_id: int | None = None,
        label_id: int | None = None,
        everything: bool = False,
        older_than_days: int | None = None,
        up_to: int | None = None,
        whole_stories: bool = False,
    ) -> MarkAllReadResponse:
        """Marks a feed, a folder or a label read, or `everything`; the server refuses a call without any of them.

        `whole_stories`: what is marked is read in your other feeds that have it, too.
        """
        scope = {"feed_id": feed_id, "folder_id": folder_id, "label_id": label_id, "everything": everything}
        limits = {"older_than_days": older_than_days, "up_to": up_to, "whole_stories": whole_stories}
        return await self._connection.ask("POST", "/entries/mark-all", MarkAllReadResponse, scope | limits)

    async def undo(self, undo: str) -> None:
        await self._connection.read("POST", "/entries/undo", {"undo": undo})

    async def labels(self) -> list[LabelResponse]:
        return (await self._connection.ask("GET", "/labels", LabelPage)).items

    async def _pages(self, path: str, form: type[SearchResultPage], query: Query) -> AsyncIterator[EntryResponse]:
        cursor: str | None = None
        while True:
            asked = {**query, "cursor": cursor, "limit": 200}
            page = await self._connection.ask("GET", path, form, query=asked)
            for item in page.items:
                yield item
            if page.next is None:
                return
            cursor = page.next


class PoolsClient:
    """Takes items from pools, popped for good or leased and acknowledged; puts texts into pools."""

    def __init__(self, connection: ApiConnection) -> None:
        self._connection = connection

    async def pop(self, group: str, kind: PoolKindName = "titles", n: int = 1) -> list[PoolItemResponse]:
        """Pops items, which nobody else gets; an empty list when the pool is empty."""
        try:
            return (await self._connection.ask("POST", f"/pools/{group}/{kind}/pop", PopResponse, query={"n": n})).items
        except ApiError as problem:
            if problem.code != "pool_empty":
                raise
            return []

    async def lease(self, group: str, kind: PoolKindName = "titles", n: int = 1) -> LeaseResponse | None:
        """Leases items, to be acknowledged in time; None when the pool is empty."""
        try:
            return await self._connection.ask("POST", f"/pools/{group}/{kind}/lease", LeaseResponse, query={"n": n})
        except ApiError as problem:
            if problem.code != "pool_empty":
                raise
            return None

    async def ack(self, group: str, kind: PoolKindName, token: str, ids: Sequence[int]) -> int:
        """Acknowledges leased items as used; returns how many were still leased."""
        return await self._end_leases("ack", group, kind, token, ids)

    async def nack(self, group: str, kind: PoolKindName, token: str, ids: Sequence[int]) -> int:
        """Returns leased items to the pool; returns how many were still leased."""
        return await self._end_leases("nack", group, kind, token, ids)

    async def add(
        self,
        group: str,
        kind: PoolKindName,
        texts: Sequence[str | PoolTextToAdd],
        *,
        batch_id: int | None = None,
    ) -> AddedTextsResponse:
        """Puts texts into a pool, in their order; one whose id is known is kept as it is, so it is safe to repeat.

        More than the server takes at once are sent in several requests, of one batch: by default the time of the call.
        """
        items = [{"text": text} if isinstance(text, str) else dict(text) for text in texts]
        batch = int(f"{datetime.now(UTC):%Y%m%d%H%M%S}") if batch_id is None else batch_id
        added = known = 0
        for some in _requests(items):
            body = {"items": some, "batch_id": batch}
            stored = await self._connection.ask("POST", f"/pools/{group}/{kind}", AddedTextsResponse, body)
            added, known = added + stored.added, known + stored.known
        return AddedTextsResponse(added=added, known=known)

    # --- for an admin

    async def grants(self, group: str) -> list[PoolGrantResponse]:
        """Who may take from the group or fill it, besides admins."""
        return (await self._connection.ask("GET", f"/pools/{group}/grants", PoolGrantPage)).items

    async def grant(self, group: str, user: str, right: PoolRightName = "take") -> None:
        """Lets an account take from the group, or fill it."""
        await self._connection.read("PUT", f"/pools/{group}/grants/{user}", query={"right": right})

    async def revoke(self, group: str, user: str, right: PoolRightName = "take") -> None:
        """Withdraws from an account the right to take from the group, or to fill it."""
        await self._connection.read("DELETE", f"/pools/{group}/grants/{user}", query={"right": right})

    async def _end_leases(self, verb: str, group: str, kind: PoolKindName, token: str, ids: Sequence[int]) -> int:
        body = {"token": token, "ids": list(ids)}
        return (await self._connection.ask("POST", f"/pools/{group}/{kind}/{verb}", ItemCountResponse, body)).count


def _requests(items: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The items for one request after the other."""
    some: list[dict[str, Any]] = []
    characters = 0
    for item in items:
        length = len(item["text"])
        if some and (len(some) == TEXTS_AT_ONCE or characters + length > CHARACTERS_AT_ONCE):
            yield some
            some, characters = [], 0
        some.append(item)
        characters += length
    if some:
        yield some
