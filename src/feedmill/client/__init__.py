"""A client of Feedmill's HTTP API for Python programs.

    async with Feedmill("http://127.0.0.1:8000", key="fm_…") as feedmill:
        added = await feedmill.subscribe("https://example.org/")
        async for entry in feedmill.entries(view="unread"):
            print(entry.title)

It needs nothing else of Feedmill, and nothing else of Feedmill needs it.
"""

from feedmill.client.connection import ApiError, ServerUnreachable
from feedmill.client.feedmill import Feedmill
from feedmill.client.responses import (
    AddedSubscription,
    CandidateFeed,
    Discovery,
    Entry,
    EntryDetail,
    FeedFolder,
    FeedJobResult,
    GrantedUser,
    ItemLease,
    Job,
    Label,
    LeasedItem,
    Me,
    PoppedItem,
    RefreshQueued,
    SubscribedFeed,
)

__all__ = [
    "AddedSubscription",
    "ApiError",
    "CandidateFeed",
    "Discovery",
    "Entry",
    "EntryDetail",
    "FeedFolder",
    "FeedJobResult",
    "Feedmill",
    "GrantedUser",
    "ItemLease",
    "Job",
    "Label",
    "LeasedItem",
    "Me",
    "PoppedItem",
    "RefreshQueued",
    "ServerUnreachable",
    "SubscribedFeed",
]
