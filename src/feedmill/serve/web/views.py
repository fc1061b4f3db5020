"""The views that a list can be of: their addresses, and what each stands for in the library."""

import re
from dataclasses import dataclass
from datetime import datetime

from feedmill.errors import NotFound
from feedmill.library.folders import find_folder
from feedmill.library.reading import Wanted
from feedmill.library.scopes import find_scope
from feedmill.library.subscriptions import find_subscription
from feedmill.model.reading import EVERYTHING, Scope, View
from feedmill.model.subscription import Subscription
from feedmill.serve.web.filters import Filter
from feedmill.store.database import Database
from feedmill.store.labels import read_label

NAMED = ("unread", "today", "all", "starred", "later", "history")
SCOPED = ("feed", "folder", "label")
_PATH = re.compile(r"/(unread|today|all|starred|later|history)|/(folder|feed|label)/([0-9]{1,16})")


@dataclass(frozen=True, slots=True)
class ViewAddress:
    """`/unread` or `/folder/3`: a kind, and the id where the kind needs one."""

    kind: str
    id: int | None = None

    @property
    def path(self) -> str:
        return f"/{self.name}"

    @property
    def name(self) -> str:
        return self.kind if self.id is None else f"{self.kind}/{self.id}"

    @property
    def is_filtered(self) -> bool:
        """Whether what was read can be hidden; the other views are what their name says."""
        return self.id is not None or self.kind == "today"

    @property
    def usual(self) -> Filter:
        """A label is for what was kept, and a day is a whole; the others are for what is new."""
        return Filter("all" if self.kind in ("label", "all", "today") else "unread")


HOME = ViewAddress("unread")


def parse_view(path: str) -> ViewAddress:
    """The view of that path; what is unread when it is none."""
    found = _PATH.fullmatch(path)
    if found is None:
        return HOME
    return ViewAddress(found[1]) if found[1] else ViewAddress(found[2], int(found[3]))


@dataclass(frozen=True, slots=True)
class Opened:
    """A view that is the user's: what to ask the library for. `name` is what the user calls it, if it has a name.

    No entry is older than `since`.
    """

    address: ViewAddress
    scope: Scope = EVERYTHING
    name: str | None = None
    feed: Subscription | None = None
    since: datetime | None = None

    def wanted(self, chosen: Filter) -> Wanted:
        kind = chosen.show if self.address.is_filtered else self.address.kind
        return Wanted(View(kind), self.scope, chosen.order, since=self.since)


async def open_view(db: Database, user_id: int, address: ViewAddress, midnight: datetime) -> Opened:
    """`NotFound` for what is not there, or not this user's. `midnight` is when the reader's day began."""
    if address.id is None:
        return Opened(address, since=midnight if address.kind == "today" else None)
    if address.id >= 2**53:
        raise NotFound("there is no such view")
    feed_id, folder_id, label_id = (address.id if address.kind == kind else None for kind in SCOPED)
    scope = await find_scope(db, user_id, feed_id, folder_id, label_id)
    if address.kind == "feed":
        feed = await find_subscription(db, user_id, address.id)
        return Opened(address, scope, feed.title, feed)
    if address.kind == "folder":
        return Opened(address, scope, (await find_folder(db, user_id, address.id)).name)
    label = await read_label(db, user_id, address.id)
    if label is None:
        raise NotFound("there is no such label")
    return Opened(address, scope, label["name"])
