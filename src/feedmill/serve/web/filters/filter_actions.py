"""Applies a filter to stored entries, takes back what it did, turns it off, deletes it; and follows these jobs."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.filters.filter_jobs import (
    apply_backwards,
    cancel_filter_job,
    find_filter_job,
    revert_filter,
    start_job_again,
    undo_job,
)
from feedmill.library.filters.manage_filters import delete_filter, enable_filter
from feedmill.model.filters.filter_history import FilterJob
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, NEXT_PATH, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_template
from feedmill.serve.web.filters.filter_editor import filter_path
from feedmill.serve.web.filters.filter_list import FILTERS_PATH

JOBS_PATH = "/filter-jobs"


@accepts_form({})
async def apply_to_stored(request: Request) -> Response:
    """Starts to apply the filter to what is there; joins it if it runs."""
    caller = await signed_in(request)
    await checked_form(request)
    app, id = the_app(request), path_id(request)
    await apply_backwards(app.db, caller.user.id, id, app.tools.clock())
    return redirect(f"{filter_path(id)}#jobs")


@accepts_form({})
async def revert(request: Request) -> Response:
    """Starts to take back all that the filter did."""
    caller = await signed_in(request)
    await checked_form(request)
    app, id = the_app(request), path_id(request)
    await revert_filter(app.db, caller.user.id, id, app.tools.clock())
    return redirect(f"{filter_path(id)}#jobs")


@accepts_form({"revert": CHECKBOX})
async def turn_off(request: Request) -> Response:
    """Turns the filter off, and takes back what it did if that is wanted."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, id, wants_back = the_app(request), path_id(request), bool(form_text(sent, "revert"))
    await enable_filter(app.db, caller.user.id, id, app.tools.clock(), enabled=False, revert=wants_back)
    return redirect(filter_path(id), flash_success("filters.turned_off"))


@accepts_form({"revert": CHECKBOX, "next": NEXT_PATH})
async def delete(request: Request) -> Response:
    """Deletes a filter, a mute or a follow, and takes back what it did if that is wanted."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, wants_back = the_app(request), bool(form_text(sent, "revert"))
    await delete_filter(app.db, caller.user.id, path_id(request), app.tools.clock(), revert=wants_back)
    message = flash_success("filters.deleted")
    if is_fragment_request(request):
        return render_template(request, "filters/mute_toast.html", message=message, made=None)
    return redirect(local_path(sent.get("next"), FILTERS_PATH), message)


@accepts_form({"next": NEXT_PATH})
async def undo(request: Request) -> Response:
    """Takes back what one job did."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app = the_app(request)
    job = await undo_job(app.db, caller.user.id, path_id(request), app.tools.clock())
    return _show_job(request, job, local_path(sent.get("next"), filter_path(job.filter_id)))


@accepts_form({"next": NEXT_PATH})
async def retry(request: Request) -> Response:
    """Starts a job again that failed or was stopped."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app = the_app(request)
    job = await start_job_again(app.db, caller.user.id, path_id(request), app.tools.clock())
    return _show_job(request, job, local_path(sent.get("next"), filter_path(job.filter_id)))


@accepts_form({"next": NEXT_PATH})
async def cancel(request: Request) -> Response:
    """Stops a job. What it did stays, and can be undone."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, job_id = the_app(request), path_id(request)
    await cancel_filter_job(app.db, caller.user.id, job_id, app.tools.clock())
    job = await find_filter_job(app.db, caller.user.id, job_id)
    return _show_job(request, job, local_path(sent.get("next"), filter_path(job.filter_id)))


def _show_job(request: Request, job: FilterJob, next_path: str) -> Response:
    if is_fragment_request(request):
        return render_template(request, "filters/job_line.html", job=job)
    return redirect(next_path)


async def show_job(request: Request) -> Response:
    """The progress of a job: a part of a page, which asks for it again until the job has ended."""
    caller = await signed_in(request)
    job = await find_filter_job(the_app(request).db, caller.user.id, path_id(request))
    return _show_job(request, job, filter_path(job.filter_id))


routes = [
    Route(f"{FILTERS_PATH}/{{id:int}}/apply", apply_to_stored, methods=["POST"]),
    Route(f"{FILTERS_PATH}/{{id:int}}/revert", revert, methods=["POST"]),
    Route(f"{FILTERS_PATH}/{{id:int}}/off", turn_off, methods=["POST"]),
    Route(f"{FILTERS_PATH}/{{id:int}}/delete", delete, methods=["POST"]),
    Route(f"{JOBS_PATH}/{{id:int}}/undo", undo, methods=["POST"]),
    Route(f"{JOBS_PATH}/{{id:int}}/retry", retry, methods=["POST"]),
    Route(f"{JOBS_PATH}/{{id:int}}/cancel", cancel, methods=["POST"]),
    Route(f"{JOBS_PATH}/{{id:int}}", show_job, methods=["GET"]),
]
