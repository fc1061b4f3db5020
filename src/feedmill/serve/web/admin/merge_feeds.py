"""`/admin/feeds/n/merge`: previews and carries out the merge of two feeds."""

from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.feeds.merge_feeds import NotMergeable, find_feed_to_merge, merge_into_feed, plan_merge
from feedmill.model.feed import feed_state
from feedmill.serve.http.auth import actor
from feedmill.serve.web.admin.feeds import FEEDS_PATH, public_title, public_url, requested_feed
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, NUMBER, TEXT, accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.store.admin.feeds import AdminFeed

LONGEST_NAME = 2000


async def preview_merge(request: Request) -> Response:
    """Previews the merge; without `into`, or with a feed that can't be merged, shows the field for it."""
    await signed_in_admin(request)
    source, into = await requested_feed(request), request.query_params.get("into", "")[:LONGEST_NAME]
    if not into:
        return await _show(request, source)
    try:
        target = await find_feed_to_merge(the_app(request).db, into)
        merging = await plan_merge(the_app(request).db, the_app(request).tools.encryption, source, target)
    except (BadInput, NotMergeable) as error:
        return await _show(request, source, into, _error_key(error))
    return await render_page(
        request,
        "admin/merge_feeds.html",
        active="/admin",
        source=source,
        target=target,
        merging=merging,
        into=into,
        error="",
        address=public_url,
        title_of=public_title,
        standing=feed_state,
    )


@accepts_form({"into": TEXT, "move_entries": CHECKBOX, "up_to": NUMBER.optional})
async def merge_feeds(request: Request) -> Response:
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    source, into, app = await requested_feed(request), form_text(sent, "into"), the_app(request)
    up_to, by = _read_up_to(sent), actor(caller, request)
    try:
        target = await find_feed_to_merge(app.db, into)
        done, moved = await merge_into_feed(
            app.db,
            app.tools.encryption,
            source,
            target,
            by,
            datetime.now(UTC),
            move_entries=up_to is not None,
            up_to=up_to,
        )
    except (BadInput, NotMergeable) as error:
        return await _show(request, source, into, _error_key(error))
    message = flash_success("admin.merged_items" if moved else "admin.merged", n=done.readers, entries=moved)
    return redirect(f"{FEEDS_PATH}/{target.feed.id}", message)


def _read_up_to(sent: FormData) -> int | None:
    """The last entry that the page showed, if entries are to be moved; None if they stay."""
    if not form_text(sent, "move_entries"):
        return None
    if not form_text(sent, "up_to"):
        raise BadInput(Message("error.no_such_choice"), field="up_to")
    return int(form_text(sent, "up_to"))


def _error_key(error: BadInput | NotMergeable) -> str:
    return f"admin.unmerged_{error.code}" if isinstance(error, NotMergeable) else "admin.no_such_feed"


async def _show(request: Request, source: AdminFeed, into: str = "", error: str = "") -> Response:
    return await render_page(
        request,
        "admin/merge_feeds.html",
        422 if error else 200,
        active="/admin",
        source=source,
        target=None,
        into=into,
        error=error,
        address=public_url,
        title_of=public_title,
        standing=feed_state,
    )


routes = [
    Route(f"{FEEDS_PATH}/{{id:int}}/merge", preview_merge, methods=["GET"]),
    Route(f"{FEEDS_PATH}/{{id:int}}/merge", merge_feeds, methods=["POST"]),
]
