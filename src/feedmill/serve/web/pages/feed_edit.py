"""`/feed/n/edit`: what a person chose for one feed."""

from dataclasses import dataclass, field, replace

from msgspec import structs
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, CallerError
from feedmill.library.moving import change_address
from feedmill.library.privacy import Login, show_options
from feedmill.library.rules import BadRule
from feedmill.library.subscriptions import Change, change, change_login, find_subscription, wanted_settings
from feedmill.library.tailoring import Previewed, preview
from feedmill.model.account import User
from feedmill.model.feed_settings import FeedSettings
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
from feedmill.serve.web.entry_choices import RETENTIONS, label_choices, read_labels, read_settings, why_bad
from feedmill.serve.web.finding import Found, address_in, find
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, render, show, signed_in, text, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.troubles import Trouble, trouble
from feedmill.store.feed_settings import settings_of
from feedmill.store.feeds import feeds_of_ids

HTTP_FIELDS = frozenset({"name", "password", "cookie", "proxy", "user_agent", "headers"})
FIELDS = HTTP_FIELDS | {"title", "interval", "images", "retention_days", "keep_selector", "drop_selector", "label_ids"}


@dataclass(frozen=True, slots=True)
class Editing:
    """The form: the feed as it is or was written, and what is wrong. `previewed` is what its rules would have done."""

    feed: Subscription
    login: Login | None
    url: str
    settings: FeedSettings
    tested: Found | None = None
    trouble: Trouble | None = None
    errors: dict[str, str] = field(default_factory=dict)
    bad_rule: BadRule | None = None
    previewed: list[Previewed] | None = None

    @property
    def is_http_wrong(self) -> bool:
        return not HTTP_FIELDS.isdisjoint(self.errors)


async def ask(request: Request) -> Response:
    caller = await signed_in(request)
    db, user = the_app(request).db, caller.user
    feed = await find_subscription(db, user.id, path_id(request))
    settings = await settings_of(db, user.id, feed.id)
    return await _shown(request, user, Editing(feed, await _login(request, feed), feed.url, settings))


async def save(request: Request) -> Response:
    """Keeps what was chosen; an address is kept only if there is a feed, or if it may be back."""
    caller = await signed_in(request)
    sent = await form(request)
    user = caller.user
    feed = await find_subscription(the_app(request).db, user.id, path_id(request))
    written = await _written(request, feed, sent)
    url = written.url
    tested = await find(request, user, url) if text(sent, "do") == "test" or _is_new(feed, url, sent) else None
    if text(sent, "do") == "test" or (tested and tested.preferred is None):
        blocked = tested.trouble if tested else None
        return await _shown(request, user, replace(written, tested=tested, trouble=blocked), 422 if blocked else 200)
    try:
        await _keep(request, user, feed, sent, _chosen_url(tested, url))
    except BadRule as error:
        return await _shown(request, user, replace(written, bad_rule=error), 422)
    except BadInput as error:
        wrong = str(error.field) if error.field in FIELDS else "title"
        return await _shown(request, user, replace(written, errors={wrong: f"feed.bad_{wrong}"}), 422)
    except CallerError as error:
        return await _shown(request, user, replace(written, trouble=trouble(error, url)), 409)
    return go(f"/feed/{feed.id}", say("feed.kept"))


async def try_rules(request: Request) -> Response:
    """Shows what the rules as they are written would have done with the last entries; nothing is kept."""
    caller = await signed_in(request)
    sent = await form(request)
    db = the_app(request).db
    feed = await find_subscription(db, caller.user.id, path_id(request))
    written = await _written(request, feed, sent)
    rules, status = written.settings, 200
    try:
        written = replace(written, previewed=await preview(db, feed.feed_id, rules.block_rules, rules.keep_rules))
    except BadRule as error:
        written, status = replace(written, bad_rule=error), 422
    if is_partial(request):
        return render(request, "parts/rules_preview.html", status, editing=written, why_bad=why_bad)
    return await _shown(request, caller.user, written, status)


async def _written(request: Request, feed: Subscription, sent: FormData) -> Editing:
    url = address_in(text(sent, "url")) or feed.url
    return Editing(_as_written(feed, sent), await _login(request, feed), url, _settings(sent))


def _as_written(feed: Subscription, sent: FormData) -> Subscription:
    """The feed as the form says it, as far as that makes sense, so that nothing that was written is lost."""
    interval, images = text(sent, "interval"), text(sent, "images")
    return structs.replace(
        feed,
        own_title=text(sent, "title") or None,
        folder_ids=_ticked(sent, "folder"),
        interval_seconds=int(interval) if interval.isdecimal() and len(interval) < 8 else None,
        archive_policy=images if images in POLICIES else None,
        paused=bool(text(sent, "paused")),
    )


def _settings(sent: FormData) -> FeedSettings:
    """The labels that are ticked, too; whose they are is looked at when they are kept."""
    return structs.replace(read_settings(sent), label_ids=_ticked(sent, "label"))


def _ticked(sent: FormData, name: str) -> tuple[int, ...]:
    given = [each for each in sent.getlist(name) if isinstance(each, str)]
    return tuple(int(each) for each in given if each.isdecimal() and len(each) < 16)


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
    settings = structs.asdict(read_settings(sent)) | {"label_ids": ()}
    await wanted_settings(app.db, user.id, feed.id, settings)
    kept = await _kept_options(request, feed)
    options = read_options(sent, kept)
    folders = await read_folders(app.db, user.id, sent)
    settings["label_ids"] = await read_labels(app.db, user.id, sent)
    if url != feed.url:
        await change_address(app.tools, user.id, feed.id, url)
    if options != kept:
        await change_login(app.db, user.id, feed.id, options, now)
    await change(app.db, app.tools.rules, user.id, feed.id, Change(chosen, folders, settings), now)


async def _kept_options(request: Request, feed: Subscription) -> str | None:
    if not feed.is_private:
        return None
    [row] = await feeds_of_ids(the_app(request).db, [feed.feed_id])
    return row.http_options


async def _login(request: Request, feed: Subscription) -> Login | None:
    return show_options(await _kept_options(request, feed))


async def _shown(request: Request, user: User, editing: Editing, status: int = 200) -> Response:
    app, feed = the_app(request), editing.feed
    intervals = sorted({*INTERVALS, feed.interval_seconds or INTERVALS[0]})
    retentions = sorted({*RETENTIONS, editing.settings.retention_days or RETENTIONS[0]})
    return await show(
        request, "feed_edit.html", status, editing=editing, folder_choices=await folder_choices(app.db, user.id),
        policies=POLICIES, intervals=intervals, retentions=retentions, usual_days=round(app.settings.retention_days),
        label_choices=await label_choices(app.db, user.id), hooks=len(await app.webhooks.all(user.id)),
        why_bad=why_bad, active=f"/feed/{feed.id}",
    )  # fmt: skip


routes = [
    Route("/feed/{id:int}/edit", ask, methods=["GET"]),
    Route("/feed/{id:int}/edit", save, methods=["POST"]),
    Route("/feed/{id:int}/edit/preview", ask, methods=["GET"]),
    Route("/feed/{id:int}/edit/preview", try_rules, methods=["POST"]),
]
