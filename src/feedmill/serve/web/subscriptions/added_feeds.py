"""`/subscribe/add` and `/subscribe/added`: subscribes to the chosen feeds and shows them as they are fetched."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, CallerError
from feedmill.library.filters.rules import BadRule, parse_rules
from feedmill.library.jobs.user_jobs import find_job
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.library.subscriptions.subscribe import SubscribeRequest, SubscribeResult, subscribe_to_candidate
from feedmill.model.batch import REFRESH_ONE
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.serve.http.sse import HEARTBEAT, with_idle_ticks
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.core.request_state import the_app, the_jobs
from feedmill.serve.web.core.sse_fragments import DONE_EVENT, event_stream, fragment_event
from feedmill.serve.web.feeds.option_fields import (
    ADD_FEED_FIELDS,
    read_folders,
    read_id,
    read_interval,
    read_options,
    read_policy,
)
from feedmill.serve.web.feeds.setting_fields import read_settings
from feedmill.serve.web.filters.filter_fields import read_labels
from feedmill.serve.web.subscriptions.discovery import DiscoveryView, the_discovery_cache, url_in_text
from feedmill.serve.web.subscriptions.subscribe import subscribe_page
from feedmill.serve.web.subscriptions.subscribe_problems import SubscribeProblem, subscribe_problem

MAX_AT_ONCE = 50


@accepts_form(ADD_FEED_FIELDS)
async def add_feeds(request: Request) -> Response:
    """Adds what was chosen. Nobody is asked for it now: what is not here yet is fetched as a job."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    url = url_in_text(form_text(sent, "url"))
    try:
        wishes = await _subscribe_requests(request, caller.user, sent)
    except BadRule:
        return await _form_error(request, caller.user, url, "subscribe.bad_rule")
    except BadInput:
        return await _form_error(request, caller.user, url, "subscribe.bad_option")
    if not wishes:
        return await _form_error(request, caller.user, url, "subscribe.none_chosen")
    return await subscribe_to_all(request, caller.user, wishes, url)


async def subscribe_to_all(request: Request, user: User, wishes: Sequence[SubscribeRequest], url: str = "") -> Response:
    """Subscribes to each, and shows them as they fill; `url` is what they were found at."""
    added, troubles = await _subscribe_each(request, user, wishes)
    if not added:
        return await _none_added(request, user, url, troubles)
    job_id = await _start_fetch(request, user, [each.subscription for each in added if not each.is_fetched])
    ids = [each.subscription.id for each in added]
    if is_fragment_request(request):
        return await _fragment(request, user, ids, job_id, troubles)
    return redirect(_address("/subscribe/added", ids, job_id))


async def _subscribe_requests(request: Request, user: User, sent: FormData) -> list[SubscribeRequest]:
    urls = [each for each in sent.getlist("feed") if isinstance(each, str) and each]
    if len(urls) > MAX_AT_ONCE:
        raise BadInput(f"at most {MAX_AT_ONCE} feeds can be added at once", "feed")
    interval, policy = read_interval(form_text(sent, "interval")), read_policy(form_text(sent, "images"))
    options, rules = read_options(sent), read_settings(sent)
    parse_rules(rules.block_rules, rules.keep_rules)
    if not urls:
        return []
    db = the_app(request).db
    folders, labels = await read_folders(db, user.id, sent), await read_labels(db, user.id, sent)
    settings = FeedSettings(
        interval_seconds=interval,
        archive_policy=policy,
        label_ids=labels,
        block_rules=rules.block_rules,
        keep_rules=rules.keep_rules,
    )
    return [SubscribeRequest(url, settings, folders, options) for url in urls]


async def _subscribe_each(
    request: Request, user: User, wishes: Sequence[SubscribeRequest]
) -> tuple[list[SubscribeResult], list[SubscribeProblem]]:
    tools, answers = the_app(request).tools, the_discovery_cache(request)
    added: list[SubscribeResult] = []
    troubles: list[SubscribeProblem] = []
    for wish in wishes:
        try:
            added.append(await subscribe_to_candidate(tools, user, wish, answers))
        except CallerError as error:
            troubles.append(subscribe_problem(error, wish.url))
    return added, troubles


async def _form_error(request: Request, user: User, url: str, key: str) -> Response:
    """What was sent can't be taken; the choice that is on the page stays."""
    if not is_fragment_request(request):
        return await subscribe_page(request, user, url, None, {"url": key}, 422)
    response = render_template(request, "subscriptions/subscribe_form_error.html", 422, key=key)
    response.headers["HX-Retarget"] = "#subscribe-wrong"
    return response


async def _none_added(request: Request, user: User, url: str, troubles: Sequence[SubscribeProblem]) -> Response:
    found = DiscoveryView(url, trouble=troubles[0])
    if is_fragment_request(request):
        return render_template(request, "subscriptions/discovery_result.html", 422, found=found)
    return await subscribe_page(request, user, url, found, status=422)


async def _start_fetch(request: Request, user: User, waiting: Sequence[Subscription]) -> int | None:
    """The job that fetches those whose answer was not remembered."""
    if not waiting:
        return None
    ids = [each.feed_id for each in waiting]
    job_id, _ = await the_jobs(request).refresh(REFRESH_ONE, ids, user.id, f"feed-{ids[0]}")
    return job_id


async def _fragment(
    request: Request, user: User, ids: Sequence[int], job_id: int | None, troubles: Sequence[SubscribeProblem]
) -> Response:
    rows = await _rows(request, user, ids)
    stream = _address("/subscribe/added/rows", ids, job_id) if job_id else None
    return render_template(request, "subscriptions/added_feeds_list.html", rows=rows, stream=stream, troubles=troubles)


async def show_added(request: Request) -> Response:
    """What was added; without scripts it is loaded again until everything is there."""
    caller = await signed_in(request)
    ids, job_id = _query(request)
    rows = await _rows(request, caller.user, ids)
    waits = any(row.state == "queued" for row in rows)
    stream = _address("/subscribe/added/rows", ids, job_id) if job_id and waits else None
    return await render_page(
        request, "subscriptions/added_feeds.html", rows=rows, stream=stream, waits=waits, troubles=[]
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
            rows = await _rows(request, user, ids)
            yield fragment_event(render_template(request, "subscriptions/added_feed_rows.html", rows=rows))
    yield DONE_EVENT


async def _rows(request: Request, user: User, ids: Sequence[int]) -> list[Subscription]:
    by_id = {each.id: each for each in await subscriptions_of_user(the_app(request).db, user.id)}
    return [by_id[id] for id in ids if id in by_id]


def _query(request: Request) -> tuple[list[int], int | None]:
    asked = request.query_params
    ids = [read_id(each) for each in asked.getlist("id")[:MAX_AT_ONCE]]
    return ids, read_id(asked["job"]) if asked.get("job") else None


def _address(path: str, ids: Sequence[int], job_id: int | None) -> str:
    pairs = [("id", str(id)) for id in ids] + ([("job", str(job_id))] if job_id else [])
    return f"{path}?{urlencode(pairs)}"


routes = [
    Route("/subscribe/add", add_feeds, methods=["POST"]),
    Route("/subscribe/added", show_added, methods=["GET"]),
    Route("/subscribe/added/rows", stream_rows, methods=["GET"]),
]
