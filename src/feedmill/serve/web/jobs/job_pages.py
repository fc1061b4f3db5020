"""`/refresh-all` and `/jobs/n`: starts a refresh, and watches or cancels a job."""

import csv
import io

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.jobs import user_jobs
from feedmill.library.jobs.start_refresh import StartedRefresh, refresh_many, refresh_one
from feedmill.library.jobs.user_jobs import failures_of_job, find_job, import_report
from feedmill.library.subscriptions.lookup import find_subscription, subscriptions_in_folder
from feedmill.model.user import User
from feedmill.serve.http.job_events import done_event_id
from feedmill.serve.http.job_events import job_event_stream as job_events
from feedmill.serve.http.sse import parse_last_event_id
from feedmill.serve.web.core.app_state import the_app, the_jobs
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.core.sse_fragments import event_stream
from feedmill.serve.web.entries.list_views import UNREAD_VIEW, VIEW_FIELD, ViewAddress, read_view


@accepts_form({"view": VIEW_FIELD.or_empty})
async def start_refresh(request: Request) -> Response:
    """Starts a refresh of the feeds of a view, or of all feeds; a second request joins the running job."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    asked = form_text(sent, "view")
    started = await _refresh_view(request, caller.user, read_view(asked) if asked else UNREAD_VIEW)
    if is_fragment_request(request):
        return await _strip(request, caller.user, started.job_id)
    return redirect(f"/jobs/{started.job_id}")


async def _refresh_view(request: Request, user: User, view: ViewAddress) -> StartedRefresh:
    db, work = the_app(request).db, the_jobs(request)
    if view.kind == "feed" and view.id:
        return await refresh_one(work, db, user.id, await find_subscription(db, user.id, view.id))
    folder_id = view.id if view.kind == "folder" else None
    return await refresh_many(work, db, user.id, await subscriptions_in_folder(db, user.id, folder_id), folder_id)


async def show_progress_strip(request: Request) -> Response:
    """The progress strip alone, for a window in which the job was not started."""
    caller = await signed_in(request)
    return await _strip(request, caller.user, path_id(request))


async def _strip(request: Request, user: User, job_id: int) -> Response:
    return render_template(
        request, "jobs/progress_strip.html", job=await find_job(the_app(request).db, user.id, job_id)
    )


async def show_job(request: Request) -> Response:
    """The progress of a job; without scripts the page reloads itself until the job has ended."""
    caller = await signed_in(request)
    db = the_app(request).db
    job = await find_job(db, caller.user.id, path_id(request))
    failures = await failures_of_job(db, caller.user.id, job)
    return await render_page(request, "jobs/job.html", job=job, failures=failures, report=import_report(job))


async def stream_job_events(request: Request) -> Response:
    """The same events as in the API, with messages in the user's language."""
    caller = await signed_in(request)
    app, seen = the_app(request), parse_last_event_id(request.headers.get("last-event-id"))
    job = await find_job(app.db, caller.user.id, path_id(request))
    if seen >= done_event_id(job):
        # 204 tells a browser not to reconnect.
        return Response(status_code=204)
    t, when = translator_and_dates(request)
    return event_stream(
        job_events(the_jobs(request), app.db, job, caller.user.id, seen, lambda message: t.render(message, when.zone))
    )


@accepts_form({})
async def cancel_job(request: Request) -> Response:
    """Cancels the job: waiting feeds are dropped, running fetches finish."""
    caller = await signed_in(request)
    await checked_form(request)
    app, job_id = the_app(request), path_id(request)
    cancelled = await user_jobs.cancel_job(app.db, caller.user.id, job_id, app.tools.clock())
    if is_fragment_request(request):
        return Response(status_code=204)
    return redirect(f"/jobs/{job_id}", flash_success("job.cancelled") if cancelled else None)


async def download_import_errors(request: Request) -> Response:
    """The errors of an import as CSV."""
    caller = await signed_in(request)
    report = import_report(await find_job(the_app(request).db, caller.user.id, path_id(request)))
    if report is None:
        raise NotFound(Message("error.job_without_lines"))
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(["line", "message"])
    table.writerows([error["line"] or "", _escape_formula(str(error["message"]))] for error in report["errors"])
    headers = {"Content-Disposition": 'attachment; filename="not-imported.csv"'}
    return Response(written.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _escape_formula(cell: str) -> str:
    """The text with a prefix if a spreadsheet would take it for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


routes = [
    Route("/refresh-all", start_refresh, methods=["POST"]),
    Route("/jobs/{id:int}", show_job, methods=["GET"]),
    Route("/jobs/{id:int}/events", stream_job_events, methods=["GET"]),
    Route("/jobs/{id:int}/strip", show_progress_strip, methods=["GET"]),
    Route("/jobs/{id:int}/cancel", cancel_job, methods=["POST"]),
    Route("/jobs/{id:int}/lines", download_import_errors, methods=["GET"]),
]
