"""`/feeds`: all subscriptions as a table, and changes to many at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.feed_table import Asked, FeedTable, feed_table
from feedmill.library.folders import check_folders
from feedmill.library.subscriptions import Change, change, unsubscribe
from feedmill.model.account import User
from feedmill.model.subscription import Subscription
from feedmill.serve.refreshing import refresh_chosen
from feedmill.serve.web.choices import INTERVALS, POLICIES, folder_choices, number, read_interval, read_policy
from feedmill.serve.web.flash import Said, say, say_failed
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app, the_work
from feedmill.serve.web.places import local
from feedmill.serve.web.plots import sparkline
from feedmill.store.subscriptions import subscriptions_of

SORTS = ("title", "folder", "unread", "items", "last", "next", "state", "size")
STATES = ("healthy", "queued", "failing", "broken", "gone", "stopped", "paused", "resting")
# For these the largest comes first when somebody asks for them.
FALLING = frozenset({"unread", "items", "last", "size"})
ROWS = 100
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Shown:
    """The table as it was asked for, and the addresses of its other pages and orders."""

    asked: Asked
    table: FeedTable

    @property
    def pages(self) -> int:
        return max(1, -(-self.table.found // ROWS))

    def at(self, **changes: Any) -> str:
        asked = replace(self.asked, **changes)
        pairs = {"q": asked.text, "state": asked.state, "folder": "" if asked.folder_id is None else asked.folder_id,
                 "sort": asked.sort, "down": "1" if asked.down else "", "page": asked.page}  # fmt: skip
        usual = {"sort": "title", "page": 1}
        kept = {name: value for name, value in pairs.items() if value != "" and usual.get(name) != value}
        return f"/feeds?{urlencode(kept)}" if kept else "/feeds"

    def sorted_by(self, sort: str) -> str:
        """By this column; the other way round if it is sorted by it already."""
        down = not self.asked.down if sort == self.asked.sort else sort in FALLING
        return self.at(sort=sort, down=down, page=1)


async def see(request: Request) -> Response:
    caller = await signed_in(request)
    app = the_app(request)
    asked = _asked(request.query_params)
    shown = Shown(asked, await feed_table(app.db, caller.user.id, asked, app.tools.clock()))
    folders = await folder_choices(app.db, caller.user.id)
    return await show(
        request, "feeds.html", shown=shown, sorts=SORTS, states=STATES, folder_choices=folders, intervals=INTERVALS,
        policies=POLICIES, sparkline=sparkline, active="/feeds",
    )  # fmt: skip


def _asked(asked: QueryParams) -> Asked:
    """What the address asks for; what makes no sense in it is left out."""
    folder, page = asked.get("folder", ""), asked.get("page", "1")
    return Asked(
        text=asked.get("q", "")[:LONGEST_TEXT].strip(),
        state=asked["state"] if asked.get("state") in STATES else "",
        folder_id=number(folder) if folder else None,
        sort=asked["sort"] if asked.get("sort") in SORTS else "title",
        down=asked.get("down") == "1",
        page=max(1, min(number(page), 10_000)),
        most=ROWS,
    )


async def change_many(request: Request) -> Response:
    """Does one thing to all that are ticked: `do` is `pause`, `folder:3`, `interval:900` and the like."""
    caller = await signed_in(request)
    sent = await form(request)
    chosen = await _ticked(request, caller.user, sent)
    back = local(sent.get("next"), "/feeds")
    kind, _, value = text(sent, "do").partition(":")
    if not chosen:
        return go(back, say_failed("feeds.none_chosen"))
    if kind == "unsubscribe":
        export_url = "/export?" + urlencode([("id", each.id) for each in chosen])
        return await show(request, "unsubscribe.html", chosen=chosen, next=back, export_url=export_url)
    if kind == "refresh":
        started = await refresh_chosen(the_work(request), the_app(request).db, caller.user.id, chosen)
        return go(f"/jobs/{started.job_id}")
    wanted = await _change(request, caller.user, kind, value)
    await _change_all(request, caller.user, chosen, wanted)
    return go(back, say("feeds.changed", n=len(chosen)))


async def _ticked(request: Request, user: User, sent: FormData) -> list[Subscription]:
    ids = {number(each) for each in sent.getlist("id") if isinstance(each, str)}
    return [each for each in await subscriptions_of(the_app(request).db, user.id) if each.id in ids]


async def _change(request: Request, user: User, kind: str, value: str) -> Change:
    match kind:
        case "pause" | "resume":
            return Change({"paused": kind == "pause"})
        case "interval":
            return Change({"interval_seconds": read_interval(value)})
        case "images":
            return Change({"archive_policy": read_policy(value)})
        case "folder":
            folder_ids = [number(value)] if value else []
            await check_folders(the_app(request).db, user.id, folder_ids)
            return Change({}, folder_ids)
    raise BadInput("nothing was chosen to be done", "do")


async def _change_all(request: Request, user: User, chosen: Sequence[Subscription], wanted: Change) -> None:
    app = the_app(request)
    for each in chosen:
        await change(app.db, app.tools.rules, user.id, each.id, wanted, app.tools.clock())


async def leave(request: Request) -> Response:
    """Ends the subscriptions that were named; it was asked for twice."""
    caller = await signed_in(request)
    sent = await form(request)
    chosen = await _ticked(request, caller.user, sent)
    for each in chosen:
        await unsubscribe(the_app(request).db, caller.user.id, each.id)
    return go(local(sent.get("next"), "/feeds"), _left(chosen))


def _left(chosen: Sequence[Subscription]) -> Said:
    return say("feeds.left", n=len(chosen)) if chosen else say_failed("feeds.none_chosen")


routes = [
    Route("/feeds", see, methods=["GET"]),
    Route("/feeds", change_many, methods=["POST"]),
    Route("/feeds/unsubscribe", leave, methods=["POST"]),
]
