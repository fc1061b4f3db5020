"""`/filters`: lists filters in their order, moves them, turns them on and off."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.filters.filter_jobs import running_filter_jobs
from feedmill.library.filters.manage_filters import (
    enable_filter,
    filters_of_user,
    find_filter,
    order_filters,
)
from feedmill.model.filters.entry_filter import FilterKind
from feedmill.model.user import Caller
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import NUMBER, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.filters.filter_choices import load_choices

FILTERS_PATH = "/filters"


async def list_filters(request: Request) -> Response:
    caller = await signed_in(request)
    db = the_app(request).db
    return await render_page(
        request,
        "filters/filters.html",
        filters=await filters_of_user(db, caller.user.id, FilterKind.FILTER),
        choices=await load_choices(request, caller),
        jobs=await running_filter_jobs(db, caller.user.id),
    )


@accepts_form({"id": NUMBER.repeated})
async def save_order(request: Request) -> Response:
    """Puts the filters into the order of the form."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    ids = [int(each) for each in sent.getlist("id") if isinstance(each, str)]
    await order_filters(the_app(request).db, caller.user.id, ids)
    return Response(status_code=204) if is_fragment_request(request) else redirect(FILTERS_PATH)


@accepts_form({"to": one_of("up", "down")})
async def move_filter(request: Request) -> Response:
    """Moves a filter by one place: the same without a script."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    db, user_id, id = the_app(request).db, caller.user.id, path_id(request)
    moved = await find_filter(db, user_id, id)
    ids = [each.id for each in await filters_of_user(db, user_id, FilterKind.FILTER)]
    place = max(0, ids.index(id) + (-1 if form_text(sent, "to") == "up" else 1))
    ids.remove(id)
    ids.insert(place, id)
    await order_filters(db, user_id, ids)
    return redirect(FILTERS_PATH, flash_success("filters.moved", name=moved.name, place=ids.index(id) + 1, of=len(ids)))


@accepts_form({"on": one_of("yes", "no")})
async def switch_filter(request: Request) -> Response:
    """Turns a filter on or off; what it did stays."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, id, is_on = the_app(request), path_id(request), form_text(sent, "on") == "yes"
    await enable_filter(app.db, caller.user.id, id, app.tools.clock(), enabled=is_on)
    if is_fragment_request(request):
        return await _row(request, caller, id)
    return redirect(FILTERS_PATH, flash_success("filters.turned_on" if is_on else "filters.turned_off"))


async def _row(request: Request, caller: Caller, id: int) -> Response:
    shown = await find_filter(the_app(request).db, caller.user.id, id)
    return render_template(
        request, "filters/filter_row.html", filter=shown, choices=await load_choices(request, caller)
    )


routes = [
    Route(FILTERS_PATH, list_filters, methods=["GET"]),
    Route(f"{FILTERS_PATH}/order", save_order, methods=["POST"]),
    Route(f"{FILTERS_PATH}/{{id:int}}/move", move_filter, methods=["POST"]),
    Route(f"{FILTERS_PATH}/{{id:int}}/switch", switch_filter, methods=["POST"]),
]
