"""`/settings/services`: creates, changes and deletes services, and lists what was saved to them."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at
from feedmill.library.entries.list_entries import entry_summaries
from feedmill.library.services.template_request import PLACEHOLDERS
from feedmill.model.max_id import MAX_ID
from feedmill.model.services.save_service import (
    SERVICE_FIELDS,
    BodyFormat,
    SaveService,
    ServiceKind,
    ServiceOptions,
    TemplateMethod,
)
from feedmill.serve.http.paginate import decode_cursor, query_cursor, split_page
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

SERVICES_PATH = "/settings/services"
SAVES_PER_PAGE = 50
OPTION_NAMES = tuple(ServiceOptions.__dataclass_fields__)
FORM = {"name": TEXT, "by_key": CHECKBOX, **dict.fromkeys(OPTION_NAMES, TEXT.optional)}

Values = Mapping[str, str]


async def list_services(request: Request) -> Response:
    caller = await signed_in(request)
    services = await the_app(request).services.all(caller.user.id)
    return await render_page(
        request, "services/services.html", active="/settings", services=services, kinds=tuple(ServiceKind)
    )


async def new_service(request: Request) -> Response:
    await signed_in(request)
    return await _show_new(request, _kind(request.query_params.get("kind", "")))


@accepts_form({"kind": one_of(*ServiceKind), **FORM})
async def create_service(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    kind, written = _kind(form_text(sent, "kind")), _written(sent)
    by_key = sent.get("by_key") == "yes"
    try:
        await the_app(request).services.create(caller.user.id, kind, form_text(sent, "name"), written, by_key=by_key)
    except (BadInput, LimitExceeded) as error:
        return await _show_new(request, kind, error, written | {"name": form_text(sent, "name")}, by_key)
    return redirect(SERVICES_PATH, flash_success("services.created"))


async def show_service(request: Request) -> Response:
    caller = await signed_in(request)
    return await _show_one(request, await the_app(request).services.one(caller.user.id, path_id(request)))


@accepts_form(FORM)
async def change_service(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    services, id = the_app(request).services, path_id(request)
    name, written, by_key = form_text(sent, "name"), _written(sent), sent.get("by_key") == "yes"
    try:
        await services.change(caller.user.id, id, name, written, by_key)
    except BadInput as error:
        known = await services.one(caller.user.id, id)
        return await _show_one(request, known, error, written | {"name": name})
    return redirect(_path(id), flash_success("services.changed"))


@accepts_form({})
async def service_action(request: Request) -> Response:
    """Handles the buttons of a service."""
    caller = await signed_in(request)
    await checked_form(request)
    services, user_id, id = the_app(request).services, caller.user.id, path_id(request)
    match request.path_params["action"]:
        case "retry":
            return redirect(_path(id), flash_success("services.retried", n=await services.retry(user_id, id)))
        case "delete":
            await services.delete(user_id, id)
            return redirect(SERVICES_PATH, flash_success("services.deleted"))
    raise NotFound(Message("error.no_such_service"))


def _kind(text: str) -> ServiceKind:
    try:
        return ServiceKind(text)
    except ValueError:
        raise NotFound(Message("error.no_such_service")) from None


def _written(sent: FormData) -> dict[str, str]:
    return {name: form_text(sent, name) for name in OPTION_NAMES if sent.get(name)}


def _path(id: int) -> str:
    return f"{SERVICES_PATH}/{id}"


async def _show_new(
    request: Request,
    kind: ServiceKind,
    error: BadInput | LimitExceeded | None = None,
    values: Values | None = None,
    by_key: bool = True,
) -> Response:
    return await render_page(
        request,
        "services/new_service.html",
        422 if error else 200,
        active="/settings",
        by_key=by_key,
        **_form_values(kind, error, values or {}),
    )


async def _show_one(
    request: Request, service: SaveService, error: BadInput | None = None, written: Values | None = None
) -> Response:
    app, user_id = the_app(request), request.state.caller.user.id
    before = decode_cursor(query_cursor(request), MAX_ID - 1)
    saves, last = split_page(await app.services.saves(user_id, service.id, before, SAVES_PER_PAGE + 1), SAVES_PER_PAGE)
    entries = await entry_summaries(app.db, user_id, [save.entry_id for save in saves])
    shown = await app.services.shown_options(service)
    return await render_page(
        request,
        "services/service.html",
        422 if error else 200,
        active="/settings",
        service=service,
        saves=saves,
        entries={entry.id: entry for entry in entries},
        older=f"{_path(service.id)}?cursor={cursor_at(last.id)}" if last else None,
        kept=shown.kept,
        **_form_values(service.kind, error, {"name": service.name, **shown.values, **(written or {})}),
    )


def _form_values(kind: ServiceKind, error: BadInput | LimitExceeded | None, values: Values) -> dict[str, Any]:
    field = error.field if isinstance(error, BadInput) and error.field else "name"
    return {
        "kind": kind,
        "fields": SERVICE_FIELDS[kind],
        "values": values,
        "errors": {field: error.message} if error else {},
        "methods": tuple(TemplateMethod),
        "body_formats": tuple(BodyFormat),
        "placeholders": PLACEHOLDERS,
    }


routes = [
    Route(SERVICES_PATH, list_services, methods=["GET"]),
    Route(SERVICES_PATH, create_service, methods=["POST"]),
    Route(f"{SERVICES_PATH}/new", new_service, methods=["GET"]),
    Route(f"{SERVICES_PATH}/{{id:int}}", show_service, methods=["GET"]),
    Route(f"{SERVICES_PATH}/{{id:int}}", change_service, methods=["POST"]),
    Route(f"{SERVICES_PATH}/{{id:int}}/{{action}}", service_action, methods=["POST"]),
]
