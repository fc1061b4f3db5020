"""A client of Feedmill's API for Python programs. In: calls. Out: values, or a `Problem`.

    async with Feedmill("http://127.0.0.1:8000", key="fm_…") as feedmill:
        added = await feedmill.subscribe("https://example.org/")
        async for entry in feedmill.entries(view="unread"):
            print(entry.title)

It needs nothing else of Feedmill, and nothing else of Feedmill needs it.
"""

from feedmill.client.answers import (
    Added,
    Candidate,
    Discovery,
    Entry,
    EntryDetail,
    Feed,
    FeedEnded,
    Folder,
    Job,
    Label,
    Leased,
    LeasedItem,
    Me,
    PoolItem,
    Started,
)
from feedmill.client.connection import NoAnswer, Problem
from feedmill.client.feedmill import Feedmill

__all__ = [
    "Added",
    "Candidate",
    "Discovery",
    "Entry",
    "EntryDetail",
    "Feed",
    "FeedEnded",
    "Feedmill",
    "Folder",
    "Job",
    "Label",
    "Leased",
    "LeasedItem",
    "Me",
    "NoAnswer",
    "PoolItem",
    "Problem",
    "Started",
]
