"""`/feeds`: lists all subscriptions as a table and changes many at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.feeds.feed_table import FeedTable, FeedTableQuery, feed_table
from feedmill.library.jobs.start_refresh import refresh_selected
from feedmill.library.subscriptions.change_subscription import SubscriptionChange, unsubscribe, update_subscription
from feedmill.library.subscriptions.folders import check_folders
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app, the_jobs
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import FlashMessage, flash_error, flash_success
from feedmill.serve.web.core.form_fields import NEXT_PATH, NUMBER, accepts_form, matching
from feedmill.serve.web.core.plots import sparkline
from feedmill.serve.web.core.read_form import checked_form, form_text, read_id
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.feeds.subscription_fields import (
    INTERVALS,
    POLICIES,
    folder_options,
    read_interval,
    read_policy,
)

SORTS = ("title", "folder", "unread", "items", "last", "next", "state", "size")
STATES = ("healthy", "queued", "failing", "broken", "gone", "stopped", "paused", "resting", "moved")
# Columns that are sorted from the largest value at first.
DESCENDING_SORTS = frozenset({"unread", "items", "last", "size"})
ROWS = 100
# The empty value is the first option of the list, which does nothing.
DO = matching(r"refresh|pause|resume|unsubscribe|folder:[0-9]{0,15}|interval:[0-9]{0,7}|images:[a-z]*").or_empty
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class FeedTableView:
    """The requested table, and the URLs of its other pages and orders."""

    query: FeedTableQuery
    table: FeedTable

    @property
    def pages(self) -> int:
        return max(1, -(-self.table.found // ROWS))

    def at(self, **changes: Any) -> str:
        query = replace(self.query, **changes)
        pairs = {
            "q": query.text,
            "state": query.state,
            "folder": "" if query.folder_id is None else query.folder_id,
            "sort": query.sort,
            "down": "1" if query.down else "",
            "page": query.page,
        }
        usual = {"sort": "title", "page": 1}
        kept = {name: value for name, value in pairs.items() if value != "" and usual.get(name) != value}
        return f"/feeds?{urlencode(kept)}" if kept else "/feeds"

    def sorted_by(self, sort: str) -> str:
        """The URL of the table sorted by this column; reversed if it is already sorted by it."""
        down = not self.query.down if sort == self.query.sort else sort in DESCENDING_SORTS
        return self.at(sort=sort, down=down, page=1)


async def show_table(request: Request) -> Response:
    caller = await signed_in(request)
    app = the_app(request)
    query = _read_query(request.query_params)
    shown = FeedTableView(query, await feed_table(app.db, caller.user.id, query, app.tools.clock()))
    folders = await folder_options(app.db, caller.user.id)
    return await render_page(
        request,
        "feeds/table.html",
        shown=shown,
        sorts=SORTS,
        states=STATES,
        folder_choices=folders,
        intervals=INTERVALS,
        policies=POLICIES,
        sparkline=sparkline,
        active="/feeds",
    )


def _read_query(given: QueryParams) -> FeedTableQuery:
    """The query of the request; invalid values are ignored."""
    folder, page = given.get("folder", ""), given.get("page", "1")
    return FeedTableQuery(
        text=given.get("q", "")[:LONGEST_TEXT].strip(),
        state=given["state"] if given.get("state") in STATES else "",
        folder_id=read_id(folder) if folder else None,
        sort=given["sort"] if given.get("sort") in SORTS else "title",
        down=given.get("down") == "1",
        page=max(1, min(read_id(page), 10_000)),
        most=ROWS,
    )


@accepts_form({"id": NUMBER.repeated, "do": DO, "next": NEXT_PATH})
async def change_many(request: Request) -> Response:
    """Applies one action to all ticked feeds: `do` is `pause`, `folder:3`, `interval:900` and so on."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    chosen = await _selected(request, caller.user, sent)
    back = local_path(sent.get("next"), "/feeds")
    kind, _, value = form_text(sent, "do").partition(":")
    if not chosen:
        return redirect(back, flash_error("feeds.none_chosen"))
    if kind == "unsubscribe":
        export_url = "/export?" + urlencode([("id", each.id) for each in chosen])
        return await render_page(
            request, "subscriptions/unsubscribe.html", chosen=chosen, next=back, export_url=export_url
        )
    if kind == "refresh":
        started = await refresh_selected(the_jobs(request), the_app(request).db, caller.user.id, chosen)
        return redirect(f"/jobs/{started.job_id}")
    change = await _change(request, caller.user, kind, value)
    await _change_all(request, caller.user, chosen, change)
    return redirect(back, flash_success("feeds.changed", n=len(chosen)))


async def _selected(request: Request, user: User, sent: FormData) -> list[Subscription]:
    ids = {read_id(each) for each in sent.getlist("id") if isinstance(each, str)}
    return [each for each in await subscriptions_of_user(the_app(request).db, user.id) if each.id in ids]


async def _change(request: Request, user: User, kind: str, value: str) -> SubscriptionChange:
    match kind:
        case "pause" | "resume":
            return SubscriptionChange({"paused": kind == "pause"})
        case "interval":
            return SubscriptionChange({"interval_seconds": read_interval(value)})
        case "images":
            return SubscriptionChange({"archive_policy": read_policy(value)})
        case "folder":
            folder_ids = [read_id(value)] if value else []
            await check_folders(the_app(request).db, user.id, folder_ids)
            return SubscriptionChange({}, folder_ids)
    raise BadInput(Message("error.no_action_chosen"), "do")


async def _change_all(request: Request, user: User, chosen: Sequence[Subscription], change: SubscriptionChange) -> None:
    app = the_app(request)
    for each in chosen:
        await update_subscription(app.db, app.tools.rules, user.id, each.id, change, app.tools.clock())


@accepts_form({"id": NUMBER.repeated, "next": NEXT_PATH})
async def unsubscribe_selected(request: Request) -> Response:
    """Unsubscribes from the chosen feeds, after confirmation."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    chosen = await _selected(request, caller.user, sent)
    for each in chosen:
        await unsubscribe(the_app(request).db, caller.user.id, each.id)
    return redirect(local_path(sent.get("next"), "/feeds"), _unsubscribed_message(chosen))


def _unsubscribed_message(chosen: Sequence[Subscription]) -> FlashMessage:
    return flash_success("feeds.left", n=len(chosen)) if chosen else flash_error("feeds.none_chosen")


routes = [
    Route("/feeds", show_table, methods=["GET"]),
    Route("/feeds", change_many, methods=["POST"]),
    Route("/feeds/unsubscribe", unsubscribe_selected, methods=["POST"]),
]
