"""`/settings/notifications`: creates, changes, tests and deletes notification targets."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.encryption import UnreadableSecret
from feedmill.errors import BadInput, BadSetting, LimitExceeded, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.notifications.browser_push import check_subscription
from feedmill.library.notifications.target_urls import is_apprise_installed
from feedmill.library.search.saved_searches import saved_searches_of_user
from feedmill.model.notifications.notification_target import (
    CHOSEN_EVENTS,
    DEFAULT_GAP,
    GAPS,
    MAX_NAME_LENGTH,
    DigestPeriod,
    NotificationEvent,
    NotificationTarget,
    TargetSettings,
)
from feedmill.model.notifications.push_subscription import PUSH_SCHEME
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, NUMBER, TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text, read_id
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.users.sessions import device_name

NOTIFICATIONS_PATH = "/settings/notifications"
# New hits are chosen by ticking the searches.
EVENTS = tuple(event for event in CHOSEN_EVENTS if event is not NotificationEvent.SEARCH_HITS)
FORM = {
    "name": TEXT,
    "url": TEXT,
    "event": one_of(*EVENTS).repeated,
    "search": NUMBER.repeated,
    "gap": one_of(*map(str, GAPS)),
    "paused": CHECKBOX,
    "digest": one_of(*DigestPeriod),
}
BROWSER_FORM = {"endpoint": TEXT, "p256dh": TEXT, "auth": TEXT}
NEW_TARGET = TargetSettings("", EVENTS, (), timedelta(minutes=DEFAULT_GAP))


async def list_targets(request: Request) -> Response:
    await signed_in(request)
    return await _show_all(request)


@accepts_form(FORM)
async def create_target(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    settings = _settings(sent)
    try:
        made = await the_app(request).notifications.create(caller.user.id, form_text(sent, "url"), settings)
    except (BadInput, LimitExceeded) as error:
        return await _show_all(request, settings, error)
    return redirect(_path(made.id), flash_success("notifications.created"))


@accepts_form(BROWSER_FORM)
async def add_browser(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    try:
        subscription = check_subscription(*(form_text(sent, name) for name in BROWSER_FORM))
        name = device_name(request.headers.get("user-agent"))[:MAX_NAME_LENGTH]
        settings = replace(NEW_TARGET, name=name or PUSH_SCHEME)
        made = await the_app(request).notifications.create_browser(caller.user.id, subscription, settings)
    except (BadInput, LimitExceeded) as error:
        return await _show_all(request, error=BadInput(error.message, "endpoint"))
    return redirect(_path(made.id), flash_success("notifications.browser_added"))


async def show_target(request: Request) -> Response:
    caller = await signed_in(request)
    return await _show_one(request, await the_app(request).notifications.one(caller.user.id, path_id(request)))


@accepts_form(FORM)
async def change_target(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    targets, id = the_app(request).notifications, path_id(request)
    target = await targets.one(caller.user.id, id)
    try:
        await targets.change(caller.user.id, id, _settings(sent), form_text(sent, "url"))
    except BadInput as error:
        return await _show_one(request, target, _settings(sent), error)
    return redirect(_path(id), flash_success("notifications.changed"))


@accepts_form({})
async def target_action(request: Request) -> Response:
    """Handles the buttons of a target."""
    caller = await signed_in(request)
    await checked_form(request)
    targets, user_id, id = the_app(request).notifications, caller.user.id, path_id(request)
    match request.path_params["action"]:
        case "test":
            await targets.test(user_id, id)
            return redirect(_path(id), flash_success("notifications.tested"))
        case "delete":
            await targets.delete(user_id, id)
            return redirect(NOTIFICATIONS_PATH, flash_success("notifications.deleted"))
    raise NotFound(Message("error.no_such_target"))


def _settings(sent: FormData) -> TargetSettings:
    ticked = sent.getlist("event")
    searches = tuple(read_id(each) for each in sent.getlist("search") if isinstance(each, str))
    return TargetSettings(
        form_text(sent, "name"),
        tuple(event for event in EVENTS if event in ticked),
        searches,
        timedelta(minutes=int(form_text(sent, "gap"))),
        sent.get("paused") == "yes",
        DigestPeriod(form_text(sent, "digest")),
    )


def _path(id: int) -> str:
    return f"{NOTIFICATIONS_PATH}/{id}"


async def _show_all(
    request: Request, settings: TargetSettings = NEW_TARGET, error: BadInput | LimitExceeded | None = None
) -> Response:
    targets = await the_app(request).notifications.all(request.state.caller.user.id)
    return await render_page(
        request,
        "notifications/notifications.html",
        422 if error else 200,
        active="/settings",
        targets=targets,
        is_installed=is_apprise_installed(),
        **await _browser_values(request, targets),
        **await _form_values(request, settings, error),
    )


async def _browser_values(request: Request, targets: Sequence[NotificationTarget]) -> dict[str, Any]:
    """What the page needs to subscribe this browser, or the reason why it can't."""
    browsers = the_app(request).notifications.browsers
    try:
        key = await browsers.public_key()
    except (BadSetting, UnreadableSecret) as error:
        return {"push_key": "", "push_error": error.message, "fingerprints": {}}
    return {"push_key": key, "push_error": None, "fingerprints": await browsers.fingerprints(targets)}


async def _show_one(
    request: Request,
    target: NotificationTarget,
    settings: TargetSettings | None = None,
    error: BadInput | None = None,
) -> Response:
    values = await _form_values(request, settings or target.settings, error)
    return await render_page(
        request, "notifications/target.html", 422 if error else 200, active="/settings", target=target, **values
    )


async def _form_values(
    request: Request, settings: TargetSettings, error: BadInput | LimitExceeded | None
) -> dict[str, Any]:
    field = error.field if isinstance(error, BadInput) and error.field else "name"
    return {
        "settings": settings,
        "events": EVENTS,
        "gaps": GAPS,
        "chosen_gap": int(settings.gap.total_seconds() // 60),
        "lengths": {gap: timedelta(minutes=gap) for gap in GAPS},
        "searches": await saved_searches_of_user(the_app(request).db, request.state.caller.user.id),
        "errors": {field: error.message} if error else {},
    }


routes = [
    Route(NOTIFICATIONS_PATH, list_targets, methods=["GET"]),
    Route(NOTIFICATIONS_PATH, create_target, methods=["POST"]),
    Route(f"{NOTIFICATIONS_PATH}/browsers", add_browser, methods=["POST"]),
    Route(f"{NOTIFICATIONS_PATH}/{{id:int}}", show_target, methods=["GET"]),
    Route(f"{NOTIFICATIONS_PATH}/{{id:int}}", change_target, methods=["POST"]),
    Route(f"{NOTIFICATIONS_PATH}/{{id:int}}/{{action}}", target_action, methods=["POST"]),
]
