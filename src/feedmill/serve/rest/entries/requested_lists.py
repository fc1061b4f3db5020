"""The query parameters that say which entries are requested: a view with its scope, or what is new since a cursor."""

from typing import Annotated

from fastapi import Depends, Query

from feedmill.library.entries.list_entries import EntryListQuery
from feedmill.library.entries.scopes import find_scope
from feedmill.model.entry_lists import EntryOrder, EntryView
from feedmill.model.max_id import MAX_ID
from feedmill.serve.rest.core.dependencies import Reader, TheApp

QueryId = Annotated[int | None, Query(ge=1, lt=MAX_ID)]
Since = Annotated[str, Query(description="The `since` of the last answer; empty: from the beginning.")]
LIST_PARAMETERS = frozenset({"view", "order", "feed_id", "folder_id", "label_id", "cursor"})


async def _requested_list(
    app: TheApp,
    who: Reader,
    view: EntryView = EntryView.UNREAD,
    order: EntryOrder = EntryOrder.NEWEST,
    feed_id: QueryId = None,
    folder_id: QueryId = None,
    label_id: QueryId = None,
) -> EntryListQuery:
    """The list that the query names; `feed_id` is the id of a subscription."""
    return EntryListQuery(view, await find_scope(app.db, who.user.id, feed_id, folder_id, label_id), order)


RequestedList = Annotated[EntryListQuery, Depends(_requested_list)]
