"""`/feed/n/archive/reparse`: previews and runs today's parser on the raw bodies of a feed."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BlobError
from feedmill.library.archive.raw_bodies import find_raw_body
from feedmill.library.archive.replay import TakesTooLong, preview_replay, replay
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_error, flash_success
from feedmill.serve.web.core.form_fields import NUMBER, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page


async def preview_reparse(request: Request) -> Response:
    """Shows what would change; `body` is the id of one raw body, by default all are parsed."""
    caller = await signed_in(request)
    app, id = the_app(request), path_id(request)
    feed = await find_subscription(app.db, caller.user.id, id)
    body_id = _body(request.query_params.get("body", ""))
    raw_body = await find_raw_body(app.db, caller.user.id, id, body_id) if body_id is not None else None
    found, problem = None, ""
    try:
        found = await preview_replay(app.tools, caller.user.id, id, body_id)
    except TakesTooLong:
        problem = "archive.reparse_too_long"
    except BlobError:
        problem = "archive.store_down"
    return await render_page(
        request,
        "archive/reparse.html",
        title=feed.title,
        feed=feed,
        raw_body=raw_body,
        found=found,
        problem=problem,
        active=f"/feed/{feed.id}",
    )


@accepts_form({"body": NUMBER.optional})
async def reparse_feed(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, id = the_app(request), path_id(request)
    back = f"/feed/{id}/archive"
    try:
        done = await replay(app.tools, caller.user.id, id, _body(form_text(sent, "body")))
    except TakesTooLong:
        return redirect(back, flash_error("archive.reparse_too_long"))
    if done.busy:
        return redirect(back, flash_error("archive.reparse_busy"))
    return redirect(back, flash_success("archive.reparsed", added=done.added, revised=done.revised))


def _body(asked: str) -> int | None:
    return int(asked) if asked.isdecimal() and len(asked) < 17 else None


routes = [
    Route("/feed/{id:int}/archive/reparse", preview_reparse, methods=["GET"]),
    Route("/feed/{id:int}/archive/reparse", reparse_feed, methods=["POST"]),
]
