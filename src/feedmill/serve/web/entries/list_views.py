"""The views of entry lists (`/unread`, `/folder/3`): their paths, and the query to the library for each."""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from starlette.requests import Request

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import find_label
from feedmill.library.entries.list_entries import MOST_RAISED, EntryListQuery
from feedmill.library.entries.scopes import find_scope
from feedmill.library.subscriptions.folders import find_folder
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope, EntryView
from feedmill.model.subscription import Subscription
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.form_fields import FormField
from feedmill.serve.web.core.localization import start_of_day
from feedmill.serve.web.core.preferences import shows_stories_once
from feedmill.serve.web.entries.list_filter import ListFilter
from feedmill.store.database import Database

NAMED_VIEWS = ("unread", "today", "all", "starred", "later", "history")
SCOPED_VIEWS = ("feed", "folder", "label")
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
        """Whether the view can hide entries that were read; other views have a fixed set of entries."""
        return self.id is not None or self.kind == "today"

    @property
    def usual(self) -> ListFilter:
        """The default filter: all entries for a label, for today and for all feeds, unread entries for the others."""
        return ListFilter("all" if self.kind in ("label", "all", "today") else "unread")


UNREAD_VIEW = ViewAddress("unread")


# The path of a view, as a field of a form.
VIEW_FIELD = FormField(lambda path: _PATH.fullmatch(path) is not None)
# A view that can be marked as read as a whole; the others have no scope for that.
MARKABLE_VIEW_FIELD = FormField(lambda path: VIEW_FIELD.fits(path) and path not in ("/starred", "/later", "/history"))


def read_view(path: str) -> ViewAddress:
    """The view of that path, for a request that changes something; raises `BadInput` for any other path."""
    found = _PATH.fullmatch(path)
    if found is None:
        raise BadInput(Message("error.no_such_view"), "view")
    return ViewAddress(found[1]) if found[1] else ViewAddress(found[2], int(found[3]))


def view_or_unread(path: str) -> ViewAddress:
    """The view of that path; the unread view for any other path. Only for requests that change nothing."""
    return read_view(path) if VIEW_FIELD.fits(path) else UNREAD_VIEW


@dataclass(frozen=True, slots=True)
class OpenedView:
    """A view that belongs to the user, as a query to the library. `name` is its name, if it has one.

    No entry is older than `since`. `stories_once`: an article of several feeds is shown once.
    """

    address: ViewAddress
    scope: EntryScope = ALL_ENTRIES
    name: str | None = None
    feed: Subscription | None = None
    since: datetime | None = None
    stories_once: bool = False

    def wanted(self, chosen: ListFilter) -> EntryListQuery:
        kind = chosen.show if self.address.is_filtered else self.address.kind
        return EntryListQuery(
            EntryView(kind),
            self.scope,
            chosen.order,
            since=self.since,
            stories_once=self.stories_once,
            raised_first=MOST_RAISED,
        )


async def open_view(request: Request, user_id: int, address: ViewAddress) -> OpenedView:
    """Opens the user's view as the user prefers to see it; raises `NotFound` if there is none."""
    opened = await _find_view(the_app(request).db, user_id, address, start_of_day(request))
    return replace(opened, stories_once=shows_stories_once(request))


async def _find_view(db: Database, user_id: int, address: ViewAddress, midnight: datetime) -> OpenedView:
    if address.id is None:
        return OpenedView(address, since=midnight if address.kind == "today" else None)
    if address.id >= 2**53:
        raise NotFound(Message("error.no_such_view"))
    feed_id, folder_id, label_id = (address.id if address.kind == kind else None for kind in SCOPED_VIEWS)
    scope = await find_scope(db, user_id, feed_id, folder_id, label_id)
    if address.kind == "feed":
        feed = await find_subscription(db, user_id, address.id)
        return OpenedView(address, scope, feed.title, feed)
    if address.kind == "folder":
        return OpenedView(address, scope, (await find_folder(db, user_id, address.id)).name)
    return OpenedView(address, scope, (await find_label(db, user_id, address.id)).name)
