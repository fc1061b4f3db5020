"""`/admin/queue`: what runs, waits and failed; retries what was given up."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.archive.retention import preview_purge, retention_periods
from feedmill.coordination.presence import RunningProcess
from feedmill.engine.task_names import QUEUES
from feedmill.errors import CoordinationUnavailable, NotFound
from feedmill.library.archive.backup_status import last_backup
from feedmill.library.cursors import cursor_at
from feedmill.serve.http.health import check_all
from feedmill.serve.http.pagination import MAX_ID, decode_cursor, split_page
from feedmill.serve.web.admin.feeds import public_title, public_url
from feedmill.serve.web.admin.users import actor, cursor_of
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.page import checked_form, redirect, render_page, the_app, the_jobs
from feedmill.serve.web.core.plots import PlotMark, stacked_bar
from feedmill.store.admin.audit_log import audit_log_page
from feedmill.store.admin.dead_letters import RETRY_STATEMENTS, retry_all_dead_letters
from feedmill.store.admin.metrics import count_images
from feedmill.store.admin.overview import count_feeds_by_state
from feedmill.store.archive.storage_usage import measure_storage_usage
from feedmill.store.jobs.activity import (
    count_open_deliveries,
    latest_failures,
    running_batches,
    running_feeds,
    waiting_hosts,
)

QUEUE, STORAGE, AUDIT = "/admin/queue", "/admin/storage", "/admin/audit"
ROWS = 50
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
    """The processes at work, and the messages that wait by queue; nothing when Redis does not answer."""
    sight = app.coordination.sight
    try:
        return await sight.seen(), await sight.waiting(QUEUES)
    except CoordinationUnavailable:
        return [], {}


@accepts_form({})
async def retry_dead_letters(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await checked_form(request)
    what = request.path_params["what"]
    if what not in RETRY_STATEMENTS:
        raise NotFound("nothing of that kind is tried again")
    n = await retry_all_dead_letters(the_app(request).db, what, actor(caller, request), datetime.now(UTC))
    return redirect(QUEUE, flash_success(f"admin.retried_{what}", n=n))


async def show_storage(request: Request) -> Response:
    await signed_in_admin(request)
    app, now = the_app(request), datetime.now(UTC)
    room, backup = await measure_storage_usage(app.db), await last_backup(app.db)
    wants_to_know = request.query_params.get("retention") == "yes"
    most = max((each.raw_bytes + each.image_bytes for each in room.largest), default=0)
    bars = {
        each.feed_id: stacked_bar(
            [PlotMark(each.image_bytes, kind="ok"), PlotMark(each.raw_bytes, kind="same")], most, "", 160, 8
        )
        for each in room.largest
    }
    return await render_page(
        request,
        "admin/storage.html",
        active="/admin",
        room=room,
        bars=bars,
        backup=backup,
        would_go=await preview_purge(app.db, retention_periods(app.settings), now) if wants_to_know else None,
        days=app.settings.retention_days,
        raw_days=app.settings.raw_days,
    )


async def show_audit_log(request: Request) -> Response:
    await signed_in_admin(request)
    page, last = split_page(
        await audit_log_page(the_app(request).db, decode_cursor(cursor_of(request), MAX_ID - 1), ROWS + 1), ROWS
    )
    more = f"{AUDIT}?cursor={cursor_at(last.id)}" if last else None
    return await render_page(request, "admin/audit_log.html", active="/admin", deeds=page, more=more)


routes = [
    Route(QUEUE, show_queue),
    Route(f"{QUEUE}/retry/{{what}}", retry_dead_letters, methods=["POST"]),
    Route(STORAGE, show_storage),
    Route(AUDIT, show_audit_log),
]
