"""`/admin/queue`: what runs, waits and failed; retries what was given up."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.coordination.presence import RunningProcess
from feedmill.engine.task_names import QUEUES
from feedmill.errors import CoordinationUnavailable, NotFound
from feedmill.i18n.messages import Message
from feedmill.serve.http.auth import actor
from feedmill.serve.http.health import check_all
from feedmill.serve.web.admin.feeds import public_title, public_url
from feedmill.serve.web.core.app_state import the_app, the_jobs
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.store.admin.instance_overview import count_feeds_by_state
from feedmill.store.admin.metrics import count_images
from feedmill.store.admin.retry_dead_letters import RETRY_STATEMENTS, retry_all_dead_letters
from feedmill.store.jobs.current_activity import (
    count_open_deliveries,
    latest_failures,
    running_batches,
    running_feeds,
    waiting_hosts,
)

QUEUE_PATH = "/admin/queue"
MAX_ROWS = 20
RECENT = timedelta(days=1)


async def show_queue(request: Request) -> Response:
    await signed_in_admin(request)
    app, now = the_app(request), datetime.now(UTC)
    processes, messages = await _processes_and_messages(app)
    return await render_page(
        request,
        "admin/queue.html",
        active="/admin",
        parts=await check_all(app),
        processes=processes,
        messages=messages,
        waits=the_jobs(request).waits(),
        is_alone=not app.settings.redis.get_secret_value(),
        feeds=await count_feeds_by_state(app.db, now),
        images=await count_images(app.db),
        deliveries=await count_open_deliveries(app.db),
        batches=await running_batches(app.db, MAX_ROWS),
        running=await running_feeds(app.db, now, MAX_ROWS),
        waiting=await waiting_hosts(app.db, now, MAX_ROWS),
        failures=await latest_failures(app.db, now - RECENT, MAX_ROWS),
        address=public_url,
        title_of=public_title,
    )


async def _processes_and_messages(app: App) -> tuple[Sequence[RunningProcess], Mapping[str, int]]:
    """The running processes, and the waiting messages by queue; empty if Redis does not answer."""
    coordination = app.coordination
    try:
        return await coordination.presence.processes(), await coordination.count_messages(QUEUES)
    except CoordinationUnavailable:
        return [], {}


@accepts_form({})
async def retry_dead_letters(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await checked_form(request)
    what = request.path_params["what"]
    if what not in RETRY_STATEMENTS:
        raise NotFound(Message("error.not_retried"))
    n = await retry_all_dead_letters(the_app(request).db, what, actor(caller, request), datetime.now(UTC))
    return redirect(QUEUE_PATH, flash_success(f"admin.retried_{what}", n=n))


routes = [
    Route(QUEUE_PATH, show_queue),
    Route(f"{QUEUE_PATH}/retry/{{what}}", retry_dead_letters, methods=["POST"]),
]
