"""`/subscribe/add` and `/subscribe/added`: feeds are added at once, and fill while one looks on."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, CallerError
from feedmill.library.jobs import find_job
from feedmill.library.rules import BadRule, read_rules
from feedmill.library.subscribe import Subscribed, Wish, subscribe_found
from feedmill.model.account import User
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.subscription import Choice, Subscription
from feedmill.serve.sse import HEARTBEAT, ticking
from feedmill.serve.web.choices import number, read_folders, read_interval, read_options, read_policy
from feedmill.serve.web.entry_choices import read_labels, read_settings
from feedmill.serve.web.finding import Found, address_in, the_answers
from feedmill.serve.web.page import form, go, render, show, signed_in, text, the_app, the_work
from feedmill.serve.web.pages.subscribe import shown
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.streams import DONE, message, streamed
from feedmill.serve.web.troubles import Trouble, trouble
from feedmill.store.batches import REFRESH_ONE
from feedmill.store.subscriptions import subscriptions_of

MOST_AT_ONCE = 50


async def add(request: Request) -> Response:
    """Adds what was chosen. Nobody is asked for it now: what is not here yet is fetched as a job."""
    caller = await signed_in(request)
    sent = await form(request)
    url = address_in(text(sent, "url"))
    try:
        wishes = await _wishes(request, caller.user, sent)
    except BadRule:
        return await _wrong(request, caller.user, url, "subscribe.bad_rule")
    except BadInput:
        return await _wrong(request, caller.user, url, "subscribe.bad_option")
    if not wishes:
        return await _wrong(request, caller.user, url, "subscribe.none_chosen")
    return await taken(request, caller.user, wishes, url)


async def taken(request: Request, user: User, wishes: Sequence[Wish], url: str = "") -> Response:
    """Subscribes to each, and shows them as they fill; `url` is what they were found at."""
    added, troubles = await _added(request, user, wishes)
    if not added:
        return await _refused(request, user, url, troubles)
    job_id = await _fetched_later(request, user, [each.subscription for each in added if not each.is_fetched])
    ids = [each.subscription.id for each in added]
    if is_partial(request):
        return await _fragment(request, user, ids, job_id, troubles)
    return go(_address("/subscribe/added", ids, job_id))


async def _wishes(request: Request, user: User, sent: FormData) -> list[Wish]:
    urls = [each for each in sent.getlist("feed") if isinstance(each, str) and each][:MOST_AT_ONCE]
    interval, policy = read_interval(text(sent, "interval")), read_policy(text(sent, "images"))
    options, rules = read_options(sent), read_settings(sent)
    read_rules(rules.block_rules, rules.keep_rules)
    if not urls:
        return []
    db = the_app(request).db
    folders, labels = await read_folders(db, user.id, sent), await read_labels(db, user.id, sent)
    settings = FeedSettings(label_ids=labels, block_rules=rules.block_rules, keep_rules=rules.keep_rules)
    return [Wish(url, Choice(None, interval, policy), folders, options, settings=settings) for url in urls]


async def _added(request: Request, user: User, wishes: Sequence[Wish]) -> tuple[list[Subscribed], list[Trouble]]:
    tools, answers = the_app(request).tools, the_answers(request)
    added: list[Subscribed] = []
    troubles: list[Trouble] = []
    for wish in wishes:
        try:
            added.append(await subscribe_found(tools, user, wish, answers))
        except CallerError as error:
            troubles.append(trouble(error, wish.url))
    return added, troubles


async def _wrong(request: Request, user: User, url: str, key: str) -> Response:
    """What was sent can't be taken; the choice that is on the page stays."""
    if not is_partial(request):
        return await shown(request, user, url, None, {"url": key}, 422)
    response = render(request, "parts/subscribe_wrong.html", 422, key=key)
    response.headers["HX-Retarget"] = "#subscribe-wrong"
    return response


async def _refused(request: Request, user: User, url: str, troubles: Sequence[Trouble]) -> Response:
    found = Found(url, trouble=troubles[0])
    if is_partial(request):
        return render(request, "parts/found.html", 422, found=found)
    return await shown(request, user, url, found, status=422)


async def _fetched_later(request: Request, user: User, waiting: Sequence[Subscription]) -> int | None:
    """The job that fetches those whose answer was not remembered."""
    if not waiting:
        return None
    ids = [each.feed_id for each in waiting]
    job_id, _ = await the_work(request).refresh(REFRESH_ONE, ids, user.id, f"feed-{ids[0]}")
    return job_id


async def _fragment(
    request: Request, user: User, ids: Sequence[int], job_id: int | None, troubles: Sequence[Trouble]
) -> Response:
    rows = await _rows(request, user, ids)
    stream = _address("/subscribe/added/rows", ids, job_id) if job_id else None
    return render(request, "parts/added.html", rows=rows, stream=stream, troubles=troubles)


async def see(request: Request) -> Response:
    """What was added; without scripts it is loaded again until everything is there."""
    caller = await signed_in(request)
    ids, job_id = _asked(request)
    rows = await _rows(request, caller.user, ids)
    waits = any(row.state == "queued" for row in rows)
    stream = _address("/subscribe/added/rows", ids, job_id) if job_id and waits else None
    return await show(request, "added.html", rows=rows, stream=stream, waits=waits, troubles=[])


async def rows_as_they_fill(request: Request) -> Response:
    caller = await signed_in(request)
    ids, job_id = _asked(request)
    job = await find_job(the_app(request).db, caller.user.id, job_id or 0)
    return streamed(_filling(request, caller.user, ids, job.id))


async def _filling(request: Request, user: User, ids: Sequence[int], job_id: int) -> AsyncGenerator[bytes, None]:
    async with aclosing(ticking(the_work(request).watch(job_id), 5)) as ticks:
        async for progress in ticks:
            if progress is None:
                yield HEARTBEAT
                continue
            rows = await _rows(request, user, ids)
            yield message(render(request, "parts/added_rows.html", rows=rows))
    yield DONE


async def _rows(request: Request, user: User, ids: Sequence[int]) -> list[Subscription]:
    by_id = {each.id: each for each in await subscriptions_of(the_app(request).db, user.id)}
    return [by_id[id] for id in ids if id in by_id]


def _asked(request: Request) -> tuple[list[int], int | None]:
    asked = request.query_params
    ids = [number(each) for each in asked.getlist("id")[:MOST_AT_ONCE]]
    return ids, number(asked["job"]) if asked.get("job") else None


def _address(path: str, ids: Sequence[int], job_id: int | None) -> str:
    pairs = [("id", str(id)) for id in ids] + ([("job", str(job_id))] if job_id else [])
    return f"{path}?{urlencode(pairs)}"


routes = [
    Route("/subscribe/add", add, methods=["POST"]),
    Route("/subscribe/added", see, methods=["GET"]),
    Route("/subscribe/added/rows", rows_as_they_fill, methods=["GET"]),
]
