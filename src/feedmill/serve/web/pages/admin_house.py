"""`/admin/queue`, `/admin/storage`, `/admin/audit`: what runs, what takes up room, who did what."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.archive.retention import foresee, read_keeping
from feedmill.coordination.sight import Seen
from feedmill.engine.names import QUEUES
from feedmill.errors import CoordinationUnavailable, NotFound
from feedmill.library.backups import last_backup
from feedmill.serve.health import check_all
from feedmill.serve.rest.cursors import cursor_at, cut, place_at
from feedmill.serve.rest.fields import MOST_ID
from feedmill.serve.web.flash import say
from feedmill.serve.web.page import form, go, show, the_app, the_work
from feedmill.serve.web.pages.admin_feeds import address, title
from feedmill.serve.web.pages.admin_users import actor, cursor_of
from feedmill.serve.web.plots import Mark, stacked
from feedmill.serve.web.scoped import signed_in_admin
from feedmill.store.audit import trail
from feedmill.store.backlog import (
    latest_failures,
    running_batches,
    running_feeds,
    waiting_deliveries,
    waiting_hosts,
)
from feedmill.store.dead_letters import AGAIN, retry
from feedmill.store.metrics import count_images
from feedmill.store.overview import count_feeds
from feedmill.store.room import measure_room

QUEUE, STORAGE, AUDIT = "/admin/queue", "/admin/storage", "/admin/audit"
ROWS = 50
MOST = 20
LATELY = timedelta(days=1)


async def queue(request: Request) -> Response:
    await signed_in_admin(request)
    app, now = the_app(request), datetime.now(UTC)
    processes, messages = await _seen(app)
    return await show(
        request, "admin_queue.html", active="/admin",
        parts=await check_all(app), processes=processes, messages=messages,
        waits=the_work(request).waits(),
        is_alone=not app.settings.redis.get_secret_value(),
        feeds=await count_feeds(app.db, now), images=await count_images(app.db),
        deliveries=await waiting_deliveries(app.db), batches=await running_batches(app.db, MOST),
        running=await running_feeds(app.db, now, MOST), waiting=await waiting_hosts(app.db, now, MOST),
        failures=await latest_failures(app.db, now - LATELY, MOST), address=address, title_of=title,
    )  # fmt: skip


async def _seen(app: App) -> tuple[Sequence[Seen], Mapping[str, int]]:
    """The processes at work, and the messages that wait by queue; nothing when Redis does not answer."""
    sight = app.coordination.sight
    try:
        return await sight.seen(), await sight.waiting(QUEUES)
    except CoordinationUnavailable:
        return [], {}


async def retry_dead(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await form(request)
    what = request.path_params["what"]
    if what not in AGAIN:
        raise NotFound("nothing of that kind is tried again")
    n = await retry(the_app(request).db, what, actor(caller, request), datetime.now(UTC))
    return go(QUEUE, say(f"admin.retried_{what}", n=n))


async def storage(request: Request) -> Response:
    await signed_in_admin(request)
    app, now = the_app(request), datetime.now(UTC)
    room, backup = await measure_room(app.db), await last_backup(app.db)
    wants_to_know = request.query_params.get("retention") == "yes"
    most = max((each.raw_bytes + each.image_bytes for each in room.largest), default=0)
    bars = {
        each.feed_id: stacked([Mark(each.image_bytes, kind="ok"), Mark(each.raw_bytes, kind="same")], most, "", 160, 8)
        for each in room.largest
    }
    return await show(
        request, "admin_storage.html", active="/admin", room=room, bars=bars, backup=backup,
        would_go=await foresee(app.db, read_keeping(app.settings), now) if wants_to_know else None,
        days=app.settings.retention_days, raw_days=app.settings.raw_days,
    )  # fmt: skip


async def audit(request: Request) -> Response:
    await signed_in_admin(request)
    page, last = cut(await trail(the_app(request).db, place_at(cursor_of(request), MOST_ID - 1), ROWS + 1), ROWS)
    more = f"{AUDIT}?cursor={cursor_at(last.id)}" if last else None
    return await show(request, "admin_audit.html", active="/admin", deeds=page, more=more)


routes = [
    Route(QUEUE, queue),
    Route(f"{QUEUE}/retry/{{what}}", retry_dead, methods=["POST"]),
    Route(STORAGE, storage),
    Route(AUDIT, audit),
]
