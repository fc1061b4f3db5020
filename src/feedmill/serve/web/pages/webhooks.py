"""`/settings/webhooks`: addresses that are called when something happens, and how that went."""

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, NotFound, TooMany
from feedmill.library.webhooks import StillPending
from feedmill.model.webhook import Event, Webhook
from feedmill.serve.rest.cursors import cursor_at, cut, place_at
from feedmill.serve.rest.fields import MOST_ID
from feedmill.serve.web.flash import Said, say, say_failed
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app
from feedmill.store.subscriptions import subscriptions_of

HERE = "/settings/webhooks"
EVENTS = tuple(event for event in Event if event is not Event.TEST)
DELIVERIES = 50
LONGEST_CURSOR = 200


async def every(request: Request) -> Response:
    await signed_in(request)
    return await _show_all(request)


async def add(request: Request) -> Response:
    """Shows the secret on the page that answers: no later one does."""
    caller = await signed_in(request)
    sent = await form(request)
    url, events = text(sent, "url").strip(), _events(sent)
    errors = {} if events else {"event": "settings.hook_needs_event"}
    if not errors:
        try:
            made = await the_app(request).webhooks.create(caller.user.id, url, events)
            return await _show_one(request, made, secret=made.secret)
        except BadInput:
            errors = {"url": "settings.bad_hook_url"}
        except TooMany:
            errors = {"url": "settings.too_many_hooks"}
    return await _show_all(request, errors, url, events)


async def one(request: Request) -> Response:
    caller = await signed_in(request)
    return await _show_one(request, await the_app(request).webhooks.one(caller.user.id, path_id(request)))


async def change(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    webhooks, id = the_app(request).webhooks, path_id(request)
    known, events = await webhooks.one(caller.user.id, id), _events(sent)
    if not events:
        return await _show_one(request, known, {"event": "settings.hook_needs_event"})
    try:
        await webhooks.change(caller.user.id, id, url=text(sent, "url").strip(), events=events)
    except BadInput:
        return await _show_one(request, known, {"url": "settings.bad_hook_url"}, url=text(sent, "url"))
    return go(_path(id), say("settings.hook_kept"))


async def do(request: Request) -> Response:
    """What a button of a webhook asks for."""
    caller = await signed_in(request)
    await form(request)
    webhooks, user_id, id = the_app(request).webhooks, caller.user.id, path_id(request)
    match request.path_params["action"]:
        case "pause" | "resume" as action:
            await webhooks.change(user_id, id, paused=action == "pause")
            return go(_path(id), say("settings.hook_paused" if action == "pause" else "settings.hook_resumed"))
        case "test":
            await webhooks.test(user_id, id)
            return go(_path(id), say("settings.hook_tested"))
        case "secret":
            made = await webhooks.new_secret(user_id, id)
            return await _show_one(request, made, secret=made.secret)
        case "delete":
            await webhooks.delete(user_id, id)
            return go(HERE, say("settings.hook_deleted"))
    raise NotFound("a webhook has no such button")


async def redeliver(request: Request) -> Response:
    caller = await signed_in(request)
    await form(request)
    id = path_id(request)
    said: Said = say("settings.redelivering")
    try:
        await the_app(request).webhooks.redeliver(caller.user.id, id, path_id(request, "delivery"))
    except StillPending:
        said = say_failed("settings.still_pending")
    return go(_path(id), said)


def _events(sent: FormData) -> list[Event]:
    return [event for event in EVENTS if event in sent.getlist("event")]


def _path(id: int) -> str:
    return f"{HERE}/{id}"


async def _show_all(
    request: Request, errors: dict[str, str] | None = None, url: str = "", events: list[Event] | None = None
) -> Response:
    hooks = await the_app(request).webhooks.all(request.state.caller.user.id)
    return await show(
        request, "webhooks.html", 422 if errors else 200, active="/settings", hooks=hooks, errors=errors or {}, url=url,
        wanted=[Event.NEW_ENTRIES] if events is None else events, events=EVENTS,
    )  # fmt: skip


async def _show_one(
    request: Request, hook: Webhook, errors: dict[str, str] | None = None, url: str | None = None, secret: str = ""
) -> Response:
    app, user_id = the_app(request), request.state.caller.user.id
    cursor = request.query_params.get("cursor", "")[:LONGEST_CURSOR]
    before = place_at(cursor or None, MOST_ID - 1)
    page, last = cut(await app.webhooks.deliveries(user_id, hook.id, before, DELIVERIES + 1), DELIVERIES)
    return await show(
        request, "webhook.html", 422 if errors else 200, active="/settings", hook=hook, errors=errors or {},
        url=hook.url if url is None else url, events=EVENTS, secret=secret, deliveries=page,
        older=f"{_path(hook.id)}?cursor={cursor_at(last.id)}" if last else None,
        feeds={each.feed_id: each for each in await subscriptions_of(app.db, user_id)},
    )  # fmt: skip


routes = [
    Route(HERE, every, methods=["GET"]),
    Route(HERE, add, methods=["POST"]),
    Route(f"{HERE}/{{id:int}}", one, methods=["GET"]),
    Route(f"{HERE}/{{id:int}}", change, methods=["POST"]),
    Route(f"{HERE}/{{id:int}}/{{action}}", do, methods=["POST"]),
    Route(f"{HERE}/{{id:int}}/deliveries/{{delivery:int}}", redeliver, methods=["POST"]),
]
