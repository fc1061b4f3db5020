"""`/feed/n/edit`: edits the options of a subscribed feed, with a preview of its filter rules."""

from dataclasses import dataclass, field, replace

from msgspec import structs
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, CallerError
from feedmill.library.feeds.private_feeds import read_private_http_options
from feedmill.library.filters.filter_new_entries import PreviewedEntry, preview_filter_rules
from feedmill.library.filters.rules import BadRule
from feedmill.library.subscriptions.change_subscription import (
    SubscriptionChange,
    change_login,
    check_settings_change,
    update_subscription,
)
from feedmill.library.subscriptions.change_url import change_subscription_url
from feedmill.library.subscriptions.feed_settings import settings_of_subscription
from feedmill.library.subscriptions.http_options import FORM_FIELDS, HttpOptionsSummary, summarize_http_options
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.feed_settings import JSON_SETTINGS, FeedSettings
from feedmill.model.fetch_options import TEXT_OPTIONS
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, NUMBER, TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.feeds.http_option_fields import HTTP_OPTION_FIELDS, read_http_options
from feedmill.serve.web.feeds.setting_fields import SECTIONS, SETTING_FIELDS, read_settings
from feedmill.serve.web.feeds.subscription_fields import (
    INTERVAL,
    INTERVALS,
    POLICIES,
    folder_options,
    read_folders,
    read_interval,
    read_policy,
    read_title,
)
from feedmill.serve.web.filters.filter_fields import RETENTIONS, label_options, read_labels
from feedmill.serve.web.subscriptions.discovery_view import DiscoveryView, discover_at, url_in_text
from feedmill.serve.web.subscriptions.subscribe_problems import SubscribeProblem, subscribe_problem

FORM = {
    "title": TEXT,
    "url": TEXT,
    "folder": NUMBER.repeated,
    "new_folder": TEXT,
    "interval": INTERVAL,
    "images": one_of("", *POLICIES),
    "paused": CHECKBOX,
    "label": NUMBER.repeated,
    "new_label": TEXT,
    **SETTING_FIELDS,
    **HTTP_OPTION_FIELDS,
    "forget": CHECKBOX,
    "anyway": CHECKBOX,
    "do": one_of("test").optional,
}
FIELDS = {*FORM_FIELDS, *JSON_SETTINGS, "title", "interval", "images"}


@dataclass(frozen=True, slots=True)
class FeedEditForm:
    """The form: stored or submitted values, and errors. `previewed` shows what its rules would have done."""

    feed: Subscription
    login: HttpOptionsSummary | None
    url: str
    settings: FeedSettings
    tested: DiscoveryView | None = None
    problem: SubscribeProblem | None = None
    errors: dict[str, str] = field(default_factory=dict)
    bad_rule: BadRule | None = None
    previewed: list[PreviewedEntry] | None = None

    @property
    def is_http_wrong(self) -> bool:
        return any(name in self.errors for name in FORM_FIELDS)


async def show_edit_form(request: Request) -> Response:
    caller = await signed_in(request)
    db, user = the_app(request).db, caller.user
    feed = await find_subscription(db, user.id, path_id(request))
    settings = await settings_of_subscription(db, user.id, feed)
    return await _shown(request, user, FeedEditForm(feed, await _login(request, feed), feed.url, settings))


@accepts_form(FORM)
async def save_feed(request: Request) -> Response:
    """Saves the form; a new URL is saved only if there is a feed, or if the problem may be temporary."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    user = caller.user
    feed = await find_subscription(the_app(request).db, user.id, path_id(request))
    written = await _form_as_written(request, feed, sent)
    url = written.url
    tested = (
        await discover_at(request, user, url) if form_text(sent, "do") == "test" or _is_new(feed, url, sent) else None
    )
    if form_text(sent, "do") == "test" or (tested and tested.preferred is None):
        blocked = tested.problem if tested else None
        return await _shown(request, user, replace(written, tested=tested, problem=blocked), 422 if blocked else 200)
    try:
        await _save_changes(request, user, feed, sent, _chosen_url(tested, url))
    except BadRule as error:
        return await _shown(request, user, replace(written, bad_rule=error), 422)
    except BadInput as error:
        wrong = str(error.field) if error.field in FIELDS else "title"
        return await _shown(request, user, replace(written, errors={wrong: f"feed.bad_{wrong}"}), 422)
    except CallerError as error:
        return await _shown(request, user, replace(written, problem=subscribe_problem(error, url)), 409)
    return redirect(f"/feed/{feed.id}", flash_success("feed.kept"))


@accepts_form({name: field if field.is_repeated else field.optional for name, field in FORM.items()})
async def preview_rules(request: Request) -> Response:
    """Shows what the submitted rules would have done with the newest entries; saves nothing."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    db = the_app(request).db
    feed = await find_subscription(db, caller.user.id, path_id(request))
    written = await _form_as_written(request, feed, sent)
    rules, status = written.settings, 200
    try:
        written = replace(written, previewed=await preview_filter_rules(db, feed, rules.block_rules, rules.keep_rules))
    except BadRule as error:
        written, status = replace(written, bad_rule=error), 422
    if is_fragment_request(request):
        return render_template(request, "filters/rules_preview.html", status, editing=written)
    return await _shown(request, caller.user, written, status)


async def _form_as_written(request: Request, feed: Subscription, sent: FormData) -> FeedEditForm:
    url = url_in_text(form_text(sent, "url")) or feed.url
    return FeedEditForm(_as_written(feed, sent), await _login(request, feed), url, _settings(sent))


def _as_written(feed: Subscription, sent: FormData) -> Subscription:
    """The submitted values as far as they are valid, so that the form keeps what the user typed."""
    interval, images = form_text(sent, "interval"), form_text(sent, "images")
    return structs.replace(
        feed,
        own_title=form_text(sent, "title") or None,
        folder_ids=_ticked(sent, "folder"),
        interval_seconds=int(interval) if interval.isdecimal() and len(interval) < 8 else None,
        archive_policy=images if images in POLICIES else None,
        paused=bool(form_text(sent, "paused")),
    )


def _settings(sent: FormData) -> FeedSettings:
    """The submitted settings with the ticked labels; whether these are the user's is checked when they are saved."""
    return structs.replace(read_settings(sent), label_ids=_ticked(sent, "label"))


def _ticked(sent: FormData, name: str) -> tuple[int, ...]:
    given = [each for each in sent.getlist(name) if isinstance(each, str)]
    return tuple(int(each) for each in given if each.isdecimal() and len(each) < 16)


def _is_new(feed: Subscription, url: str, sent: FormData) -> bool:
    """Whether the URL is new and must be checked; not if the user wants it anyway."""
    return url != feed.url and not form_text(sent, "anyway")


def _chosen_url(tested: DiscoveryView | None, url: str) -> str:
    """The URL of the feed; for a page, that of its likeliest feed."""
    return tested.preferred.candidate.url if tested and tested.preferred else url


async def _save_changes(request: Request, user: User, feed: Subscription, sent: FormData, url: str) -> None:
    """Saves the changes; everything is validated before anything is written."""
    app, now = the_app(request), the_app(request).tools.clock()
    settings = {name: getattr(read_settings(sent), name) for name in SETTING_FIELDS} | {
        "title": read_title(sent),
        "interval_seconds": read_interval(form_text(sent, "interval")),
        "archive_policy": read_policy(form_text(sent, "images")),
        "paused": bool(form_text(sent, "paused")),
    }
    settings["label_ids"] = ()
    await check_settings_change(app.db, user.id, feed.id, settings)
    kept = await _stored_options(request, feed)
    options = read_http_options(sent, kept)
    folders = await read_folders(app.db, user.id, sent)
    settings["label_ids"] = await read_labels(app.db, user.id, sent)
    if url != feed.url:
        await change_subscription_url(app.tools, user.id, feed.id, url)
    if options != kept:
        await change_login(app.db, user.id, feed.id, encrypt_options(app.tools.encryption, options), now)
    await update_subscription(app.db, app.tools.rules, user.id, feed.id, SubscriptionChange(settings, folders), now)


async def _stored_options(request: Request, feed: Subscription) -> str | None:
    app = the_app(request)
    return await read_private_http_options(app.db, app.tools.encryption, feed)


async def _login(request: Request, feed: Subscription) -> HttpOptionsSummary | None:
    return summarize_http_options(await _stored_options(request, feed))


async def _shown(request: Request, user: User, editing: FeedEditForm, status: int = 200) -> Response:
    app, feed = the_app(request), editing.feed
    intervals = sorted({*INTERVALS, feed.interval_seconds or INTERVALS[0]})
    retentions = sorted({*RETENTIONS, editing.settings.retention_days or RETENTIONS[0]})
    return await render_page(
        request,
        "feeds/edit.html",
        status,
        editing=editing,
        folder_choices=await folder_options(app.db, user.id),
        policies=POLICIES,
        intervals=intervals,
        sections=SECTIONS,
        text_options=TEXT_OPTIONS,
        retentions=retentions,
        usual_days=round(app.settings.retention_days),
        label_choices=await label_options(app.db, user.id),
        hooks=len(await app.webhooks.all(user.id)),
        active=f"/feed/{feed.id}",
    )


routes = [
    Route("/feed/{id:int}/edit", show_edit_form, methods=["GET"]),
    Route("/feed/{id:int}/edit", save_feed, methods=["POST"]),
    Route("/feed/{id:int}/edit/preview", show_edit_form, methods=["GET"]),
    Route("/feed/{id:int}/edit/preview", preview_rules, methods=["POST"]),
]
