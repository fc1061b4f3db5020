"""A client of Feedmill's HTTP API for Python programs.

    async with Feedmill("http://127.0.0.1:8000", key="fm_…") as feedmill:
        added = await feedmill.subscribe("https://example.org/")
        async for entry in feedmill.entries(view="unread"):
            print(entry.title)

It imports no web framework and nothing of the server. The responses are the models of `feedmill.api_schemas`, which
also define the server's API.
"""

from feedmill.api_schemas.current_user import CurrentUser
from feedmill.api_schemas.entries import (
    ArticleResponse,
    EntryChangePage,
    EntryMarksResponse,
    EntryResponse,
    EntryTextResponse,
    LabelResponse,
    MarkAllReadResponse,
    NewEntryPage,
)
from feedmill.api_schemas.feeds import (
    DiscoveredFeedResponse,
    DiscoverResponse,
    FeedResponse,
    FetchResponse,
    RefreshResponse,
    SubscribeResponse,
)
from feedmill.api_schemas.folders import FolderResponse
from feedmill.api_schemas.jobs import FeedOutcomeResponse, JobDetailResponse, JobResponse
from feedmill.api_schemas.pools import (
    AddedTextsResponse,
    LeasedItemResponse,
    LeaseResponse,
    PoolGrantResponse,
    PoolItemResponse,
)
from feedmill.client.connection import ApiError, ServerUnreachable
from feedmill.client.feedmill import Feedmill, PoolTextToAdd

__all__ = [
    "AddedTextsResponse",
    "ApiError",
    "ArticleResponse",
    "CurrentUser",
    "DiscoverResponse",
    "DiscoveredFeedResponse",
    "EntryChangePage",
    "EntryMarksResponse",
    "EntryResponse",
    "EntryTextResponse",
    "FeedOutcomeResponse",
    "FeedResponse",
    "Feedmill",
    "FetchResponse",
    "FolderResponse",
    "JobDetailResponse",
    "JobResponse",
    "LabelResponse",
    "LeaseResponse",
    "LeasedItemResponse",
    "MarkAllReadResponse",
    "NewEntryPage",
    "PoolGrantResponse",
    "PoolItemResponse",
    "PoolTextToAdd",
    "RefreshResponse",
    "ServerUnreachable",
    "SubscribeResponse",
]
