"""The query parameters that say which entries are requested: a view with its scope, or what is new since a cursor."""

from typing import Annotated, Literal

from fastapi import Depends, Query

from feedmill.library.entries.list_entries import EntryListQuery
from feedmill.library.entries.scopes import find_scope
from feedmill.model.entry_lists import EntryOrder, EntryView
from feedmill.model.max_id import MAX_ID
from feedmill.serve.rest.core.dependencies import Reader, TheApp

QueryId = Annotated[int | None, Query(ge=1, lt=MAX_ID)]
Since = Annotated[str, Query(description="The `since` of the last answer; empty: from the beginning.")]
StoriesShown = Annotated[
    Literal["each", "once"],
    Query(description="`once`: the views `unread` and `all` have only the first entry of an article of several feeds."),
]
LIST_PARAMETERS = frozenset({"view", "order", "feed_id", "folder_id", "label_id", "cursor", "stories"})


async def _requested_list(
    app: TheApp,
    who: Reader,
    view: EntryView = EntryView.UNREAD,
    order: EntryOrder = EntryOrder.NEWEST,
    feed_id: QueryId = None,
    folder_id: QueryId = None,
    label_id: QueryId = None,
    stories: StoriesShown = "each",
) -> EntryListQuery:
    """The list that the query names; `feed_id` is the id of a subscription."""
    scope = await find_scope(app.db, who.user.id, feed_id, folder_id, label_id)
    return EntryListQuery(view, scope, order, stories_once=stories == "once")


RequestedList = Annotated[EntryListQuery, Depends(_requested_list)]
