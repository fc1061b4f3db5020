"""`/refresh-all` and `/jobs/n`: feeds are fetched now, and one can look on."""

import csv
import io

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.library.jobs import failures_in, find_job, report_of
from feedmill.library.subscriptions import find_subscription, subscriptions_in
from feedmill.model.account import User
from feedmill.serve.job_events import done_number
from feedmill.serve.job_events import events as job_events
from feedmill.serve.refreshing import Started, refresh_many, refresh_one
from feedmill.serve.sse import last_seen
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, render, show, signed_in, speech, text, the_app, the_work
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.streams import streamed
from feedmill.serve.web.telling import tell
from feedmill.serve.web.views import ViewAddress, parse_view
from feedmill.store.batches import cancel_batch


async def refresh(request: Request) -> Response:
    """Has the feeds of a view fetched, all of them where the view is of all; asking again joins what runs."""
    caller = await signed_in(request)
    sent = await form(request)
    started = await _started(request, caller.user, parse_view(text(sent, "view")))
    if is_partial(request):
        return await _strip(request, caller.user, started.job_id)
    return go(f"/jobs/{started.job_id}")


async def _started(request: Request, user: User, view: ViewAddress) -> Started:
    db, work = the_app(request).db, the_work(request)
    if view.kind == "feed" and view.id:
        return await refresh_one(work, db, user.id, await find_subscription(db, user.id, view.id))
    folder_id = view.id if view.kind == "folder" else None
    return await refresh_many(work, db, user.id, await subscriptions_in(db, user.id, folder_id), folder_id)


async def strip(request: Request) -> Response:
    """The progress strip alone, for a window in which the job was not started."""
    caller = await signed_in(request)
    return await _strip(request, caller.user, path_id(request))


async def _strip(request: Request, user: User, job_id: int) -> Response:
    return render(request, "parts/strip.html", job=await find_job(the_app(request).db, user.id, job_id))


async def see(request: Request) -> Response:
    """How a job stands; without scripts the page loads itself again until it has ended."""
    caller = await signed_in(request)
    db = the_app(request).db
    job = await find_job(db, caller.user.id, path_id(request))
    failures = await failures_in(db, caller.user.id, job)
    return await show(request, "job.html", job=job, failures=failures, report=report_of(job))


async def events(request: Request) -> Response:
    """The job as the API streams it, with its messages in the reader's language."""
    caller = await signed_in(request)
    app, seen = the_app(request), last_seen(request.headers.get("last-event-id"))
    job = await find_job(app.db, caller.user.id, path_id(request))
    if seen >= done_number(job):
        # What tells a browser not to come back again.
        return Response(status_code=204)
    t, when = speech(request)
    return streamed(job_events(the_work(request), app.db, job, caller.user.id, seen, lambda said: tell(said, t, when)))


async def cancel(request: Request) -> Response:
    """Drops what waits; what is being fetched comes to its end."""
    caller = await signed_in(request)
    await form(request)
    app = the_app(request)
    job = await find_job(app.db, caller.user.id, path_id(request))
    cancelled = await cancel_batch(app.db, job.id, app.tools.clock())
    if is_partial(request):
        return Response(status_code=204)
    return go(f"/jobs/{job.id}", say("job.cancelled") if cancelled else None)


async def lines(request: Request) -> Response:
    """The lines of an import that could not be taken over, as a table for other programs."""
    caller = await signed_in(request)
    report = report_of(await find_job(the_app(request).db, caller.user.id, path_id(request)))
    if report is None:
        raise NotFound("this job has no lines")
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(["line", "message"])
    table.writerows([error["line"] or "", _harmless(error["message"])] for error in report["errors"])
    headers = {"Content-Disposition": 'attachment; filename="not-imported.csv"'}
    return Response(written.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _harmless(cell: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


routes = [
    Route("/refresh-all", refresh, methods=["POST"]),
    Route("/jobs/{id:int}", see, methods=["GET"]),
    Route("/jobs/{id:int}/events", events, methods=["GET"]),
    Route("/jobs/{id:int}/strip", strip, methods=["GET"]),
    Route("/jobs/{id:int}/cancel", cancel, methods=["POST"]),
    Route("/jobs/{id:int}/lines", lines, methods=["GET"]),
]
