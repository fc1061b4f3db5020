"""`/admin/storage`: what is stored and backed up, and what is purged next."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.archive.purge import preview_purge, retention_periods
from feedmill.library.archive.backup_status import last_backup
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.plots import PlotMark, stacked_bar
from feedmill.serve.web.core.render_page import render_page
from feedmill.store.archive.storage_usage import measure_storage_usage


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


routes = [Route("/admin/storage", show_storage)]
