"""`/subscribe/added`: shows the feeds that were just added, as they are fetched."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.jobs.user_jobs import find_job
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.serve.http.sse import HEARTBEAT, with_idle_ticks
from feedmill.serve.web.core.app_state import the_app, the_jobs
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.read_form import read_id
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.core.sse_fragments import DONE_EVENT, event_stream, fragment_event

MAX_AT_ONCE = 50


async def show_added(request: Request) -> Response:
    """The feeds that were added; without scripts the page reloads itself until all are fetched."""
    caller = await signed_in(request)
    ids, job_id = _query(request)
    rows = await added_rows(request, caller.user, ids)
    waits = any(row.state == "queued" for row in rows)
    stream = added_path("/subscribe/added/rows", ids, job_id) if job_id and waits else None
    return await render_page(
        request, "subscriptions/added_feeds.html", rows=rows, stream=stream, waits=waits, problems=[]
    )


async def stream_rows(request: Request) -> Response:
    caller = await signed_in(request)
    ids, job_id = _query(request)
    job = await find_job(the_app(request).db, caller.user.id, job_id or 0)
    return event_stream(_row_events(request, caller.user, ids, job.id))


async def _row_events(request: Request, user: User, ids: Sequence[int], job_id: int) -> AsyncGenerator[bytes, None]:
    async with aclosing(with_idle_ticks(the_jobs(request).watch(job_id), 5)) as ticks:
        async for progress in ticks:
            if progress is None:
                yield HEARTBEAT
                continue
            rows = await added_rows(request, user, ids)
            yield fragment_event(render_template(request, "subscriptions/added_feed_rows.html", rows=rows))
    yield DONE_EVENT


async def added_rows(request: Request, user: User, ids: Sequence[int]) -> list[Subscription]:
    by_id = {each.id: each for each in await subscriptions_of_user(the_app(request).db, user.id)}
    return [by_id[id] for id in ids if id in by_id]


def _query(request: Request) -> tuple[list[int], int | None]:
    asked = request.query_params
    ids = [read_id(each) for each in asked.getlist("id")[:MAX_AT_ONCE]]
    return ids, read_id(asked["job"]) if asked.get("job") else None


def added_path(path: str, ids: Sequence[int], job_id: int | None) -> str:
    pairs = [("id", str(id)) for id in ids] + ([("job", str(job_id))] if job_id else [])
    return f"{path}?{urlencode(pairs)}"


routes = [
    Route("/subscribe/added", show_added, methods=["GET"]),
    Route("/subscribe/added/rows", stream_rows, methods=["GET"]),
]
