"""Streams of the Google Reader API: states, folders, labels and feeds, as apps name them.

A stream is `user/-/state/com.google/…`, `user/-/label/…` or `feed/…`; apps write their own user id in place of `-`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from feedmill.app import App
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import labels_of_user
from feedmill.library.subscriptions.folders import folder_and_descendants, folder_paths, folders_of_user
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope
from feedmill.model.entry_marks import UserLabel
from feedmill.model.subscription import Folder, Subscription
from feedmill.model.sync_query import SyncQuery

STATE = "user/-/state/com.google/"
LABEL = "user/-/label/"
FEED = "feed/"
READING_LIST, READ, STARRED = STATE + "reading-list", STATE + "read", STATE + "starred"
UNREAD_STATES = frozenset({STATE + "unread", STATE + "kept-unread", STATE + "tracking-kept-unread"})
_USER = re.compile(r"user/[^/]*/")


def normal_stream(written: str) -> str:
    """The name of a stream with `-` for the user."""
    return _USER.sub("user/-/", written, count=1) if written.startswith("user/") else written


@dataclass(frozen=True, slots=True)
class UserStreams:
    """The folders, labels and subscriptions of a user, by the names that streams have."""

    subscriptions: Sequence[Subscription]
    folders: Sequence[Folder]
    labels: Sequence[UserLabel]

    @property
    def folder_names(self) -> dict[int, str]:
        """By folder its path, which apps show as one name."""
        return {id: "/".join(path) for id, path in folder_paths(self.folders).items()}

    def find_folder(self, name: str) -> int | None:
        return next((id for id, path in self.folder_names.items() if path == name), None)

    def find_label(self, name: str) -> int | None:
        return next((label.id for label in self.labels if label.name == name), None)

    def find_subscription(self, stream: str) -> Subscription | None:
        """The subscription of `feed/ID` or `feed/URL`."""
        named = stream.removeprefix(FEED)
        return next((each for each in self.subscriptions if named in (str(each.id), each.url)), None)

    @property
    def categories(self) -> dict[int, list[str]]:
        """By subscription the names of the folders that it is in."""
        names = self.folder_names
        return {each.id: [names[id] for id in each.folder_ids if id in names] for each in self.subscriptions}

    def in_folder(self, folder_id: int) -> tuple[int, ...]:
        """The subscriptions in a folder and its subfolders."""
        within = folder_and_descendants(self.folders, folder_id)
        return tuple(each.id for each in self.subscriptions if within.intersection(each.folder_ids))

    def scope(self, stream: str) -> EntryScope | None:
        """The entries of a feed, folder or label; None for one that does not exist."""
        if stream.startswith(FEED):
            found = self.find_subscription(stream)
            return EntryScope((found.id,)) if found else None
        name = stream.removeprefix(LABEL)
        folder_id, label_id = self.find_folder(name), self.find_label(name)
        if folder_id is not None:
            return EntryScope(self.in_folder(folder_id))
        return None if label_id is None else EntryScope(None, label_id)


async def streams_of(app: App, user_id: int) -> UserStreams:
    return UserStreams(
        await subscriptions_of_user(app.db, user_id),
        await folders_of_user(app.db, user_id),
        await labels_of_user(app.db, user_id),
    )


def stream_query(streams: UserStreams, stream: str, excluded: Iterable[str], included: Iterable[str]) -> SyncQuery:
    """The entries of a stream (`s`) without those of `excluded` (`xt`), and only those of `included` (`it`)."""
    query = _with_state(SyncQuery(scope=_scope(streams, stream)), stream, holds=True)
    for each in included:
        query = _with_state(query, normal_stream(each), holds=True)
    for each in excluded:
        query = _with_state(query, normal_stream(each), holds=False)
    return query


def _scope(streams: UserStreams, stream: str) -> EntryScope:
    if not stream.startswith((FEED, LABEL)):
        return ALL_ENTRIES
    # Of a feed or label that does not exist there are no entries.
    return streams.scope(stream) or EntryScope(())


def _with_state(query: SyncQuery, stream: str, *, holds: bool) -> SyncQuery:
    """The query limited to entries in a state, or out of it; other streams limit nothing."""
    if stream == STARRED:
        return replace(query, starred=holds)
    if stream == READ:
        return replace(query, unread=not holds)
    if stream in UNREAD_STATES:
        return replace(query, unread=holds)
    if not stream.startswith((STATE, LABEL, FEED)):
        raise BadInput(Message("error.unknown_stream"), field="s")
    return query
