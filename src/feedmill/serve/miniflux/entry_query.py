"""Reads the query of `/v1/entries` into what the library is asked for; values that are not understood are refused."""

from datetime import UTC, datetime
from typing import TypeVar

from starlette.datastructures import QueryParams

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.model.sync_query import LAST_ID, SyncOrder, SyncQuery
from feedmill.serve.http.app_parameters import AppParameters
from feedmill.serve.miniflux.user_feeds import UserFeeds

Value = TypeVar("Value")

USUAL, MOST = 100, 10_000
MOST_OFFSET = 10_000_000
LATEST = 2**33
# Orders that Feedmill has none of its own for go by date.
ORDERS = {
    "id": SyncOrder.ID,
    "created_at": SyncOrder.ID,
    "changed_at": SyncOrder.ID,
    "published_at": SyncOrder.DATE,
    "status": SyncOrder.DATE,
    "category_title": SyncOrder.DATE,
    "category_id": SyncOrder.DATE,
    "title": SyncOrder.TITLE,
    "author": SyncOrder.AUTHOR,
}
STATUSES = {"unread": True, "read": False, "removed": None}
TRUTHS = {"1": True, "true": True, "": None, "0": False, "false": False}


def read_entry_query(
    user_feeds: UserFeeds, written: QueryParams, feed_id: int | None = None, category_id: int | None = None
) -> SyncQuery | None:
    """The entries that the query asks for; None if there can be none."""
    sent = AppParameters(written.multi_items())
    statuses = {_choose(STATUSES, each, "status") for each in sent.all("status")}
    if statuses == {None}:
        return None
    states = statuses - {None}
    after, before = sent.number("after_entry_id", 0) or 0, sent.number("before_entry_id") or LAST_ID
    return SyncQuery(
        scope=user_feeds.scope(
            feed_id if feed_id is not None else sent.number("feed_id"),
            category_id if category_id is not None else sent.number("category_id"),
        ),
        unread=states.pop() if len(states) == 1 else None,
        starred=_choose(TRUTHS, sent.text("starred"), "starred"),
        after_id=after,
        before_id=before,
        oldest_first=_choose({"asc": True, "": True, "desc": False}, sent.text("direction"), "direction"),
        most=min(sent.number("limit", USUAL) or USUAL, MOST),
        offset=min(sent.number("offset", 0) or 0, MOST_OFFSET),
        order=_choose(ORDERS, sent.text("order") or "id", "order"),
        dated_since=_moment(sent, "published_after", "after"),
        dated_until=_moment(sent, "published_before", "before"),
        seen_since=_moment(sent, "changed_after"),
        seen_until=_moment(sent, "changed_before"),
    )


def _moment(sent: AppParameters, *names: str) -> datetime | None:
    seconds = next((number for number in (sent.number(name) for name in names) if number), None)
    return None if seconds is None else datetime.fromtimestamp(min(seconds, LATEST), UTC)


def _choose(choices: dict[str, Value], written: str, name: str) -> Value:
    if written not in choices:
        raise BadInput(Message("error.bad_choice", name=name, choices=", ".join(filter(None, choices))), field=name)
    return choices[written]
