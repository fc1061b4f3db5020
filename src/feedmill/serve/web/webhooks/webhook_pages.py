"""`/settings/webhooks`: creates, changes, tests and deletes webhooks, and lists their deliveries."""

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.library.webhooks.service import StillPending
from feedmill.model.max_id import MAX_ID
from feedmill.model.webhook import Webhook, WebhookEvent
from feedmill.serve.http.paginate import decode_cursor, query_cursor, split_page
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import FlashMessage, flash_error, flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

WEBHOOKS_PATH = "/settings/webhooks"
EVENTS = tuple(event for event in WebhookEvent if event is not WebhookEvent.TEST)
DELIVERIES_PER_PAGE = 50


async def list_webhooks(request: Request) -> Response:
    await signed_in(request)
    return await _show_all(request)


@accepts_form({"url": TEXT, "event": one_of(*EVENTS).repeated})
async def create_webhook(request: Request) -> Response:
    """Creates a webhook and shows its secret in the response, only once."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    url, events = form_text(sent, "url").strip(), _events(sent)
    errors = {} if events else {"event": "settings.hook_needs_event"}
    if not errors:
        try:
            made = await the_app(request).webhooks.create(caller.user.id, url, events)
            return await _show_one(request, made, secret=made.secret)
        except BadInput:
            errors = {"url": "settings.bad_hook_url"}
        except LimitExceeded:
            errors = {"url": "settings.too_many_hooks"}
    return await _show_all(request, errors, url, events)


async def show_webhook(request: Request) -> Response:
    caller = await signed_in(request)
    return await _show_one(request, await the_app(request).webhooks.one(caller.user.id, path_id(request)))


@accepts_form({"url": TEXT, "event": one_of(*EVENTS).repeated})
async def change_webhook(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    webhooks, id = the_app(request).webhooks, path_id(request)
    known, events = await webhooks.one(caller.user.id, id), _events(sent)
    if not events:
        return await _show_one(request, known, {"event": "settings.hook_needs_event"})
    try:
        await webhooks.change(caller.user.id, id, url=form_text(sent, "url").strip(), events=events)
    except BadInput:
        return await _show_one(request, known, {"url": "settings.bad_hook_url"}, url=form_text(sent, "url"))
    return redirect(_path(id), flash_success("settings.hook_kept"))


@accepts_form({})
async def webhook_action(request: Request) -> Response:
    """Handles the buttons of a webhook."""
    caller = await signed_in(request)
    await checked_form(request)
    webhooks, user_id, id = the_app(request).webhooks, caller.user.id, path_id(request)
    match request.path_params["action"]:
        case "pause" | "resume" as action:
            await webhooks.change(user_id, id, paused=action == "pause")
            return redirect(
                _path(id), flash_success("settings.hook_paused" if action == "pause" else "settings.hook_resumed")
            )
        case "test":
            await webhooks.test(user_id, id)
            return redirect(_path(id), flash_success("settings.hook_tested"))
        case "secret":
            made = await webhooks.new_secret(user_id, id)
            return await _show_one(request, made, secret=made.secret)
        case "delete":
            await webhooks.delete(user_id, id)
            return redirect(WEBHOOKS_PATH, flash_success("settings.hook_deleted"))
    raise NotFound(Message("error.webhook_button"))


@accepts_form({})
async def redeliver(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    id = path_id(request)
    message: FlashMessage = flash_success("settings.redelivering")
    try:
        await the_app(request).webhooks.redeliver(caller.user.id, id, path_id(request, "delivery"))
    except StillPending:
        message = flash_error("settings.still_pending")
    return redirect(_path(id), message)


def _events(sent: FormData) -> list[WebhookEvent]:
    return [event for event in EVENTS if event in sent.getlist("event")]


def _path(id: int) -> str:
    return f"{WEBHOOKS_PATH}/{id}"


async def _show_all(
    request: Request, errors: dict[str, str] | None = None, url: str = "", events: list[WebhookEvent] | None = None
) -> Response:
    hooks = await the_app(request).webhooks.all(request.state.caller.user.id)
    return await render_page(
        request,
        "webhooks/webhooks.html",
        422 if errors else 200,
        active="/settings",
        hooks=hooks,
        errors=errors or {},
        url=url,
        wanted=[WebhookEvent.NEW_ENTRIES] if events is None else events,
        events=EVENTS,
    )


async def _show_one(
    request: Request, hook: Webhook, errors: dict[str, str] | None = None, url: str | None = None, secret: str = ""
) -> Response:
    app, user_id = the_app(request), request.state.caller.user.id
    before = decode_cursor(query_cursor(request), MAX_ID - 1)
    page, last = split_page(
        await app.webhooks.deliveries(user_id, hook.id, before, DELIVERIES_PER_PAGE + 1), DELIVERIES_PER_PAGE
    )
    return await render_page(
        request,
        "webhooks/webhook.html",
        422 if errors else 200,
        active="/settings",
        hook=hook,
        errors=errors or {},
        url=hook.url if url is None else url,
        events=EVENTS,
        secret=secret,
        deliveries=page,
        older=f"{_path(hook.id)}?cursor={cursor_at(last.id)}" if last else None,
        feeds={each.feed_id: each for each in await subscriptions_of_user(app.db, user_id)},
    )


routes = [
    Route(WEBHOOKS_PATH, list_webhooks, methods=["GET"]),
    Route(WEBHOOKS_PATH, create_webhook, methods=["POST"]),
    Route(f"{WEBHOOKS_PATH}/{{id:int}}", show_webhook, methods=["GET"]),
    Route(f"{WEBHOOKS_PATH}/{{id:int}}", change_webhook, methods=["POST"]),
    Route(f"{WEBHOOKS_PATH}/{{id:int}}/{{action}}", webhook_action, methods=["POST"]),
    Route(f"{WEBHOOKS_PATH}/{{id:int}}/deliveries/{{delivery:int}}", redeliver, methods=["POST"]),
]
