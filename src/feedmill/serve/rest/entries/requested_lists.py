"""The query parameters that say which entries are requested: a view with its scope, or what is new since a cursor."""

from typing import Annotated, Literal

from fastapi import Depends, Query

from feedmill.library.entries.list_entries import MOST_RAISED, EntryListQuery
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
RaisedShown = Annotated[
    Literal["in_place", "first", "only"],
    Query(
        description="Unread entries that your filters raised, in the view `unread`. `first`: up to 50 of them are the "
        "first items, and other pages leave them out. `only`: the list has no others."
    ),
]
LIST_PARAMETERS = frozenset({"view", "order", "feed_id", "folder_id", "label_id", "cursor", "stories", "raised"})


async def _requested_list(
    app: TheApp,
    who: Reader,
    view: EntryView = EntryView.UNREAD,
    order: EntryOrder = EntryOrder.NEWEST,
    feed_id: QueryId = None,
    folder_id: QueryId = None,
    label_id: QueryId = None,
    stories: StoriesShown = "each",
    raised: RaisedShown = "in_place",
) -> EntryListQuery:
    """The list that the query names; `feed_id` is the id of a subscription."""
    scope = await find_scope(app.db, who.user.id, feed_id, folder_id, label_id)
    raised_first = MOST_RAISED if raised == "first" else 0
    return EntryListQuery(view, scope, order, stories_once=stories == "once", raised_first=raised_first)


RequestedList = Annotated[EntryListQuery, Depends(_requested_list)]
