"""`/feed/n/edit`: what a person chose for one feed."""

from dataclasses import dataclass, field

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, CallerError
from feedmill.library.moving import change_address
from feedmill.library.privacy import Login, show_options
from feedmill.library.subscriptions import Change, change, change_login, find_subscription
from feedmill.model.account import User
from feedmill.model.subscription import Subscription
from feedmill.serve.web.choices import (
    INTERVALS,
    POLICIES,
    folder_choices,
    read_folders,
    read_interval,
    read_name,
    read_options,
    read_policy,
)
from feedmill.serve.web.finding import Found, address_in, find
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app
from feedmill.serve.web.troubles import Trouble, trouble
from feedmill.store.feeds import feeds_of_ids

FIELDS = frozenset({"title", "interval", "images", "name", "password", "cookie", "proxy", "user_agent", "headers"})


@dataclass(frozen=True, slots=True)
class Editing:
    """The form: the feed as it is, what was written for its address, and what is wrong."""

    feed: Subscription
    login: Login | None
    url: str
    tested: Found | None = None
    trouble: Trouble | None = None
    errors: dict[str, str] = field(default_factory=dict)


async def ask(request: Request) -> Response:
    caller = await signed_in(request)
    feed = await find_subscription(the_app(request).db, caller.user.id, path_id(request))
    return await _shown(request, caller.user, Editing(feed, await _login(request, feed), feed.url))


async def save(request: Request) -> Response:
    """Keeps what was chosen; an address is kept only if there is a feed, or if it may be back."""
    caller = await signed_in(request)
    sent = await form(request)
    user, app = caller.user, the_app(request)
    feed = await find_subscription(app.db, user.id, path_id(request))
    url = address_in(text(sent, "url")) or feed.url
    login = await _login(request, feed)
    tested = await find(request, user, url) if text(sent, "do") == "test" or _is_new(feed, url, sent) else None
    if text(sent, "do") == "test" or (tested and tested.preferred is None):
        blocked = tested.trouble if tested else None
        return await _shown(request, user, Editing(feed, login, url, tested, blocked), 200 if not blocked else 422)
    try:
        await _keep(request, user, feed, sent, _chosen_url(tested, url))
    except BadInput as error:
        wrong = str(error.field) if error.field in FIELDS else "title"
        return await _shown(request, user, Editing(feed, login, url, errors={wrong: f"feed.bad_{wrong}"}), 422)
    except CallerError as error:
        return await _shown(request, user, Editing(feed, login, url, trouble=trouble(error, url)), 409)
    return go(f"/feed/{feed.id}", say("feed.kept"))


def _is_new(feed: Subscription, url: str, sent: FormData) -> bool:
    """Whether the address must be looked at; not when the person says that it is right anyway."""
    return url != feed.url and not text(sent, "anyway")


def _chosen_url(tested: Found | None, url: str) -> str:
    """Of a page, its likeliest feed."""
    return tested.preferred.candidate.url if tested and tested.preferred else url


async def _keep(request: Request, user: User, feed: Subscription, sent: FormData, url: str) -> None:
    """Everything is read before anything is written."""
    app, now = the_app(request), the_app(request).tools.clock()
    chosen = {
        "title": read_name(sent),
        "interval_seconds": read_interval(text(sent, "interval")),
        "archive_policy": read_policy(text(sent, "images")),
        "paused": bool(text(sent, "paused")),
    }
    kept = await _kept_options(request, feed)
    options = read_options(sent, kept)
    folders = await read_folders(app.db, user.id, sent)
    if url != feed.url:
        await change_address(app.tools, user.id, feed.id, url)
    if options != kept:
        await change_login(app.db, user.id, feed.id, options, now)
    await change(app.db, app.tools.rules, user.id, feed.id, Change(chosen, folders), now)


async def _kept_options(request: Request, feed: Subscription) -> str | None:
    if not feed.is_private:
        return None
    [row] = await feeds_of_ids(the_app(request).db, [feed.feed_id])
    return row.http_options


async def _login(request: Request, feed: Subscription) -> Login | None:
    return show_options(await _kept_options(request, feed))


async def _shown(request: Request, user: User, editing: Editing, status: int = 200) -> Response:
    folders, feed = await folder_choices(the_app(request).db, user.id), editing.feed
    intervals = sorted({*INTERVALS, feed.interval_seconds or INTERVALS[0]})
    return await show(
        request, "feed_edit.html", status, editing=editing, folder_choices=folders, policies=POLICIES,
        intervals=intervals, active=f"/feed/{feed.id}",
    )  # fmt: skip


routes = [
    Route("/feed/{id:int}/edit", ask, methods=["GET"]),
    Route("/feed/{id:int}/edit", save, methods=["POST"]),
]
