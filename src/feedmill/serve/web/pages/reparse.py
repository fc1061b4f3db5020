"""`/feed/n/archive/reparse`: kept answers read again by today's parser; first what that would change, then for real."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BlobError
from feedmill.library.archives import find_answer
from feedmill.library.replaying import TakesTooLong, replay, try_replay
from feedmill.library.subscriptions import find_subscription
from feedmill.serve.web.flash import say, say_failed
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app


async def ask(request: Request) -> Response:
    """Says what would change; `body` names one answer, without it all of them are read."""
    caller = await signed_in(request)
    app, id = the_app(request), path_id(request)
    feed = await find_subscription(app.db, caller.user.id, id)
    body_id = _body(request.query_params.get("body", ""))
    answer = await find_answer(app.db, caller.user.id, id, body_id) if body_id is not None else None
    found, problem = None, ""
    try:
        found = await try_replay(app.tools, caller.user.id, id, body_id)
    except TakesTooLong:
        problem = "archive.reparse_too_long"
    except BlobError:
        problem = "archive.store_down"
    return await show(
        request, "reparse.html", title=feed.title, feed=feed, answer=answer, found=found, problem=problem,
        active=f"/feed/{feed.id}",
    )  # fmt: skip


async def do(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    app, id = the_app(request), path_id(request)
    back = f"/feed/{id}/archive"
    try:
        done = await replay(app.tools, caller.user.id, id, _body(text(sent, "body")))
    except TakesTooLong:
        return go(back, say_failed("archive.reparse_too_long"))
    if done.busy:
        return go(back, say_failed("archive.reparse_busy"))
    return go(back, say("archive.reparsed", added=done.added, revised=done.revised))


def _body(asked: str) -> int | None:
    return int(asked) if asked.isdecimal() and len(asked) < 17 else None


routes = [
    Route("/feed/{id:int}/archive/reparse", ask, methods=["GET"]),
    Route("/feed/{id:int}/archive/reparse", do, methods=["POST"]),
]
