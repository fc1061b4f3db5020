"""`/filters/new` and `/filters/n`: writes a filter, tries it before it is saved, and shows what it did."""

from dataclasses import replace

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.filters.conditions import BadCondition, parse_condition
from feedmill.library.filters.effects import hits_of_filter
from feedmill.library.filters.filter_jobs import apply_backwards, jobs_of_filter
from feedmill.library.filters.manage_filters import change_filter, create_filter, find_filter
from feedmill.library.filters.try_filter import try_filter
from feedmill.model.filters.entry_filter import EntryFilter, FilterKind
from feedmill.model.user import Caller
from feedmill.serve.http.paginate import query_cursor
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.filters.filter_choices import load_choices
from feedmill.serve.web.filters.filter_fields import read_labels
from feedmill.serve.web.filters.filter_form import (
    ACTION_FLAGS,
    FILTER_FORM,
    LONGEST_NAME,
    TRIAL_FORM,
    FilterForm,
    form_from_query,
    read_scope,
    stored_form,
    submitted_form,
)
from feedmill.serve.web.filters.filter_list import FILTERS_PATH

HITS = 50
# Texts of what is wrong with a field, by its name in the library.
ERRORS = {"name": "filters.bad_name", "actions": "filters.no_action", "scope": "filters.scope_gone"}


async def show_new_filter(request: Request) -> Response:
    """An empty form, or one for a search; says at once what a filter can't use of that search."""
    caller = await signed_in(request)
    form = form_from_query(request.query_params)
    if form.condition:
        form = await _checked(request, caller, form)
    return await _show(request, caller, form)


@accepts_form(FILTER_FORM)
async def create(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    saved = await _save(request, caller, sent)
    if isinstance(saved, FilterForm):
        return await _show(request, caller, saved, status=422)
    return redirect(filter_path(saved.id), flash_success("filters.created", name=saved.name))


async def show_filter(request: Request) -> Response:
    caller = await signed_in(request)
    stored = await _own_filter(request, caller)
    return await _show(request, caller, stored_form(stored), stored)


@accepts_form(FILTER_FORM)
async def change(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    stored = await _own_filter(request, caller)
    saved = await _save(request, caller, sent, stored)
    if isinstance(saved, FilterForm):
        return await _show(request, caller, saved, stored, status=422)
    return redirect(filter_path(saved.id), flash_success("filters.saved"))


@accepts_form(TRIAL_FORM)
async def try_new_filter(request: Request) -> Response:
    """Shows what the filter would have matched; saves nothing."""
    caller = await signed_in(request)
    return await _try(request, caller, submitted_form(await checked_form(request)))


@accepts_form(TRIAL_FORM)
async def try_stored_filter(request: Request) -> Response:
    caller = await signed_in(request)
    form = submitted_form(await checked_form(request))
    return await _try(request, caller, form, await _own_filter(request, caller))


def filter_path(id: int) -> str:
    return f"{FILTERS_PATH}/{id}"


async def _own_filter(request: Request, caller: Caller) -> EntryFilter:
    """The filter of the path. A mute or follow has no page of its own."""
    found = await find_filter(the_app(request).db, caller.user.id, path_id(request))
    if found.kind is not FilterKind.FILTER:
        raise NotFound(Message("error.no_such_filter"))
    return found


async def _checked(request: Request, caller: Caller, form: FilterForm) -> FilterForm:
    """The form with what is wrong in it, as far as that is known before it is saved."""
    app = the_app(request)
    if not form.scope:
        form = form.with_error("scope", ERRORS["scope"])
    if len(form.name) > LONGEST_NAME:
        form = form.with_error("name", ERRORS["name"])
    try:
        await parse_condition(app.db, caller.user.id, form.condition, app.tools.clock())
    except BadCondition as mistake:
        return replace(form, mistake=mistake)
    return form


async def _save(
    request: Request, caller: Caller, sent: FormData, before: EntryFilter | None = None
) -> EntryFilter | FilterForm:
    """The saved filter, or the form with what is wrong in it."""
    app, now = the_app(request), the_app(request).tools.clock()
    form = await _checked(request, caller, submitted_form(sent))
    if form.mistake or form.errors:
        return form
    # Last, because it creates the new label.
    draft = form.draft(await read_labels(app.db, caller.user.id, sent), before)
    try:
        if before is None:
            saved = await create_filter(app.db, caller, draft, now)
        else:
            saved = await change_filter(app.db, caller, before.id, draft, now)
    except LimitExceeded:
        return form.with_error("name", "filters.too_many")
    except BadInput as error:
        wrong = error.field if error.field in ERRORS else "name"
        return form.with_error(wrong, ERRORS[wrong])
    if form.is_for_stored and saved.enabled:
        await apply_backwards(app.db, caller.user.id, saved.id, now)
    return saved


async def _try(request: Request, caller: Caller, form: FilterForm, stored: EntryFilter | None = None) -> Response:
    app, form = the_app(request), await _checked(request, caller, form)
    is_wrong = bool(form.mistake or form.errors)
    if not is_wrong:
        scope = read_scope(form.scope)
        form = replace(form, trial=await try_filter(app.db, caller.user.id, form.condition, scope, app.tools.clock()))
    status = 422 if is_wrong else 200
    if is_fragment_request(request):
        return render_template(request, "filters/trial.html", status, form=form)
    return await _show(request, caller, form, stored, status)


async def _show(
    request: Request, caller: Caller, form: FilterForm, stored: EntryFilter | None = None, status: int = 200
) -> Response:
    db, user_id = the_app(request).db, caller.user.id
    hits = await hits_of_filter(db, user_id, stored.id, HITS, query_cursor(request)) if stored else None
    return await render_page(
        request,
        "filters/filter.html",
        status,
        active=FILTERS_PATH,
        form=form,
        filter=stored,
        path=filter_path(stored.id) if stored else f"{FILTERS_PATH}/new",
        flags=ACTION_FLAGS,
        choices=await load_choices(request, caller),
        hits=hits,
        jobs=await jobs_of_filter(db, user_id, stored.id) if stored else [],
    )


routes = [
    Route(f"{FILTERS_PATH}/new", show_new_filter, methods=["GET"]),
    Route(f"{FILTERS_PATH}/new", create, methods=["POST"]),
    Route(f"{FILTERS_PATH}/new/try", show_new_filter, methods=["GET"]),
    Route(f"{FILTERS_PATH}/new/try", try_new_filter, methods=["POST"]),
    Route(f"{FILTERS_PATH}/{{id:int}}", show_filter, methods=["GET"]),
    Route(f"{FILTERS_PATH}/{{id:int}}", change, methods=["POST"]),
    Route(f"{FILTERS_PATH}/{{id:int}}/try", show_filter, methods=["GET"]),
    Route(f"{FILTERS_PATH}/{{id:int}}/try", try_stored_filter, methods=["POST"]),
]
