"""Reads the query of `/v1/entries` into what the library is asked for; values that are not understood are refused."""

from datetime import UTC, datetime
from typing import TypeVar

from starlette.datastructures import QueryParams

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.model.entry_lists import EntryScope
from feedmill.model.sync_query import LAST_ID, SyncOrder, SyncQuery
from feedmill.serve.http.app_parameters import AppParameters
from feedmill.serve.miniflux.user_feeds import UserFeeds

Value = TypeVar("Value")

USUAL, MOST = 100, 10_000
MOST_TAGS, LONGEST_TAG = 10, 200
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
TRUTHS = {"true": True, "t": True, "1": True, "": None, "false": False, "f": False, "0": False}


def read_entry_query(
    user_feeds: UserFeeds, written: QueryParams, feed_id: int | None = None, category_id: int | None = None
) -> SyncQuery | None:
    """The entries that the query asks for; None if there can be none."""
    sent = AppParameters(written.multi_items())
    statuses = {_choose(STATUSES, each, "status") for each in sent.all("status")}
    if statuses == {None}:
        return None
    states = statuses - {None}
    # No feed is hidden from the lists of all feeds, so it changes nothing.
    _truth(sent.text("globally_visible"), "globally_visible")
    after, before = sent.number("after_entry_id", 0) or 0, sent.number("before_entry_id") or LAST_ID
    return SyncQuery(
        scope=_scope(user_feeds, sent, feed_id, category_id),
        unread=states.pop() if len(states) == 1 else None,
        starred=_truth(sent.text("starred"), "starred"),
        after_id=after,
        before_id=before,
        oldest_first=_choose({"asc": True, "": True, "desc": False}, sent.text("direction"), "direction"),
        # 0 is no limit in Miniflux.
        most=min(sent.number("limit", USUAL) or MOST, MOST),
        offset=min(sent.number("offset", 0) or 0, MOST_OFFSET),
        order=_choose(ORDERS, sent.text("order") or "published_at", "order"),
        dated_since=_moment(sent, "published_after", "after"),
        dated_until=_moment(sent, "published_before", "before"),
        seen_since=_moment(sent, "changed_after"),
        seen_until=_moment(sent, "changed_before"),
        tags=_tags(sent),
    )


def _scope(
    user_feeds: UserFeeds, sent: AppParameters, path_feed_id: int | None, path_category_id: int | None
) -> EntryScope:
    """The feed or category of the path, else that of the query; one that is not the user's is a bad value there."""
    if path_feed_id is not None or path_category_id is not None:
        return user_feeds.scope(path_feed_id, path_category_id)
    try:
        return user_feeds.scope(sent.number("feed_id"), sent.number("category_id"))
    except NotFound as error:
        raise BadInput(error.message) from error


def read_truth(written: QueryParams, name: str) -> bool:
    """A parameter that is `true` or `false`; False if it is absent."""
    return _truth(written.get(name, ""), name) or False


def _truth(written: str, name: str) -> bool | None:
    """In any case of letters: the library of Miniflux sends `True`."""
    return _choose(TRUTHS, written.lower(), name)


def _tags(sent: AppParameters) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tag.strip() for tag in sent.all("tags") if tag.strip()))
    if len(tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG or "\0" in tag for tag in tags):
        raise BadInput(Message("error.bad_tags", most=MOST_TAGS), field="tags")
    return tags


def _moment(sent: AppParameters, *names: str) -> datetime | None:
    seconds = next((number for number in (sent.number(name) for name in names) if number), None)
    return None if seconds is None else datetime.fromtimestamp(min(seconds, LATEST), UTC)


def _choose(choices: dict[str, Value], written: str, name: str) -> Value:
    if written not in choices:
        raise BadInput(Message("error.bad_choice", name=name, choices=", ".join(filter(None, choices))), field=name)
    return choices[written]
