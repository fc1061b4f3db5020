"""`/feed/n/archive`: the raw bodies and images kept of a feed."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.i18n.byte_sizes import format_bytes
from feedmill.i18n.messages import Message
from feedmill.library.archive.delete_old_images import delete_old_images, may_delete_images, preview_image_deletion
from feedmill.library.archive.feed_images import list_images, total_images
from feedmill.library.archive.raw_bodies import days_left, list_raw_bodies
from feedmill.library.archive.request_images import fetch_missing_images, retry_failed_images
from feedmill.library.archive.storage_usage import count_expiring
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.image import ImageStatus
from feedmill.model.timestamps import from_iso, iso_or_none
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import accepts_form, matching, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

ROWS = 50
IMAGES_PER_PAGE = 60
DEFAULT_AGE_DAYS = 90

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


async def show_raw_bodies(request: Request) -> Response:
    caller = await signed_in(request)
    app, now = the_app(request), datetime.now(UTC)
    feed = await find_subscription(app.db, caller.user.id, path_id(request))
    page = await list_raw_bodies(app.db, feed, _before(request), ROWS)
    keep, days = timedelta(days=app.settings.raw_days), _days(request.query_params.get("days", ""))
    would_go = await count_expiring(app.db, caller.user.id, feed.id, timedelta(days=days), now) if days else None
    return await render_page(
        request,
        "archive/raw_bodies.html",
        title=feed.title,
        feed=feed,
        page=page,
        raw_days=app.settings.raw_days,
        older=iso_or_none(page.more),
        days=days or round(app.settings.retention_days),
        would_go=would_go,
        left=partial(days_left, keep=keep, now=now),
        active=f"/feed/{feed.id}",
    )


def _before(request: Request) -> datetime | None:
    """The time in the query; None if it can't be parsed."""
    text = request.query_params.get("before", "")
    try:
        return from_iso(text) if _MOMENT.fullmatch(text) else None
    except ValueError:
        return None


async def show_images(request: Request) -> Response:
    caller = await signed_in(request)
    app = the_app(request)
    feed = await find_subscription(app.db, caller.user.id, path_id(request))
    counts = await total_images(app.db, feed)
    state = _state(request, {name for name, count in counts.items() if count.images})
    before = request.query_params.get("before", "")
    beyond = int(before) if before.isdecimal() and len(before) < 16 else None
    items, more = await list_images(app.db, app.blobs, feed, state, beyond, IMAGES_PER_PAGE)
    older = _days(request.query_params.get("older", ""))
    now, age = datetime.now(UTC), timedelta(days=older or DEFAULT_AGE_DAYS)
    would_go = await preview_image_deletion(app.db, caller.user, feed.id, age, now) if older else None
    return await render_page(
        request,
        "archive/images.html",
        title=feed.title,
        feed=feed,
        counts=counts,
        state=state,
        items=items,
        more=more,
        may_free=await may_delete_images(app.db, caller.user, feed.feed_id),
        older=age.days,
        would_go=would_go,
        active=f"/feed/{feed.id}",
    )


def _days(text: str) -> int | None:
    """A number of days; None for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 6 and int(text) else None


def _state(request: Request, there: set[str]) -> ImageStatus:
    """The status in the query, else the first one that any image has."""
    status = request.query_params.get("state")
    if status in list(ImageStatus):
        return ImageStatus(status)
    usual = (ImageStatus.SUCCESS, ImageStatus.PENDING, ImageStatus.FAILED)
    return next((state for state in usual if state in there), ImageStatus.SUCCESS)


@accepts_form({"do": one_of("retry", "fetch", "free"), "older": matching(r"[0-9]{1,5}").optional})
async def change_images(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    db, id, now = the_app(request).db, path_id(request), datetime.now(UTC)
    match form_text(sent, "do"):
        case "retry":
            message = flash_success("archive.retried", n=await retry_failed_images(db, caller.user.id, id, now))
        case "fetch":
            message = flash_success("archive.hurried", n=await fetch_missing_images(db, caller.user.id, id, now))
        case "free":
            return await _free(request, caller.user, _days(form_text(sent, "older")))
        case _:
            raise BadInput(Message("error.no_such_action"), "do")
    return redirect(f"/feed/{id}/archive/images?state=pending", message)


async def _free(request: Request, user: User, older: int | None) -> Response:
    if older is None:
        raise BadInput(Message("error.image_age"), "older")
    id, now = path_id(request), datetime.now(UTC)
    freed = await delete_old_images(the_app(request).db, user, id, timedelta(days=older), now)
    return redirect(
        f"/feed/{id}/archive/images", flash_success("archive.freed", n=freed.images, size=format_bytes(freed.bytes))
    )


routes = [
    Route("/feed/{id:int}/archive", show_raw_bodies),
    Route("/feed/{id:int}/archive/images", show_images, methods=["GET"]),
    Route("/feed/{id:int}/archive/images", change_images, methods=["POST"]),
]
