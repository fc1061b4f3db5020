"""`/subscribe/add`: subscribes to the chosen feeds."""

from collections.abc import Sequence

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, CallerError
from feedmill.i18n.messages import Message
from feedmill.library.filters.rules import BadRule, parse_rules
from feedmill.library.jobs.start_refresh import start_first_fetches
from feedmill.library.subscriptions.subscribe import SubscribeRequest, SubscribeResult, subscribe_to_candidate
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app, the_jobs
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_template
from feedmill.serve.web.feeds.http_option_fields import read_http_options
from feedmill.serve.web.feeds.setting_fields import read_settings
from feedmill.serve.web.feeds.subscription_fields import read_folders, read_interval, read_policy
from feedmill.serve.web.filters.filter_fields import read_labels
from feedmill.serve.web.subscriptions.add_feed_fields import ADD_FEED_FIELDS
from feedmill.serve.web.subscriptions.added_feeds import MAX_AT_ONCE, added_path, added_rows
from feedmill.serve.web.subscriptions.discovery_view import DiscoveryView, the_discovery_cache, url_in_text
from feedmill.serve.web.subscriptions.subscribe_page import subscribe_page
from feedmill.serve.web.subscriptions.subscribe_problems import SubscribeProblem, subscribe_problem


@accepts_form(ADD_FEED_FIELDS)
async def add_feeds(request: Request) -> Response:
    """Subscribes to the chosen feeds without fetching: a job fetches those that are new."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    url = url_in_text(form_text(sent, "url"))
    try:
        requests = await _subscribe_requests(request, caller.user, sent)
    except BadRule:
        return await _form_error(request, caller.user, url, "subscribe.bad_rule")
    except BadInput:
        return await _form_error(request, caller.user, url, "subscribe.bad_option")
    if not requests:
        return await _form_error(request, caller.user, url, "subscribe.none_chosen")
    return await subscribe_to_all(request, caller.user, requests, url)


async def subscribe_to_all(
    request: Request, user: User, requests: Sequence[SubscribeRequest], url: str = ""
) -> Response:
    """Subscribes to each feed and shows them as they are fetched; `url` is the page where they were found."""
    added, problems = await _subscribe_each(request, user, requests)
    if not added:
        return await _none_added(request, user, url, problems)
    job_id = await start_first_fetches(the_jobs(request), user.id, added)
    ids = [each.subscription.id for each in added]
    if is_fragment_request(request):
        return await _fragment(request, user, ids, job_id, problems)
    return redirect(added_path("/subscribe/added", ids, job_id))


async def _subscribe_requests(request: Request, user: User, sent: FormData) -> list[SubscribeRequest]:
    urls = [each for each in sent.getlist("feed") if isinstance(each, str) and each]
    if len(urls) > MAX_AT_ONCE:
        raise BadInput(Message("error.too_many_added", most=MAX_AT_ONCE), "feed")
    interval, policy = read_interval(form_text(sent, "interval")), read_policy(form_text(sent, "images"))
    options, rules = read_http_options(sent), read_settings(sent)
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
    request: Request, user: User, requests: Sequence[SubscribeRequest]
) -> tuple[list[SubscribeResult], list[SubscribeProblem]]:
    tools, responses = the_app(request).tools, the_discovery_cache(request)
    added: list[SubscribeResult] = []
    problems: list[SubscribeProblem] = []
    for one in requests:
        try:
            added.append(await subscribe_to_candidate(tools, user, one, responses))
        except CallerError as error:
            problems.append(subscribe_problem(error, one.url))
    return added, problems


async def _form_error(request: Request, user: User, url: str, key: str) -> Response:
    """Shows the error and keeps what was chosen on the page."""
    if not is_fragment_request(request):
        return await subscribe_page(request, user, url, None, {"url": key}, 422)
    response = render_template(request, "subscriptions/subscribe_form_error.html", 422, key=key)
    response.headers["HX-Retarget"] = "#subscribe-wrong"
    return response


async def _none_added(request: Request, user: User, url: str, problems: Sequence[SubscribeProblem]) -> Response:
    found = DiscoveryView(url, problem=problems[0])
    if is_fragment_request(request):
        return render_template(request, "subscriptions/discovery_result.html", 422, found=found)
    return await subscribe_page(request, user, url, found, status=422)


async def _fragment(
    request: Request, user: User, ids: Sequence[int], job_id: int | None, problems: Sequence[SubscribeProblem]
) -> Response:
    rows = await added_rows(request, user, ids)
    stream = added_path("/subscribe/added/rows", ids, job_id) if job_id else None
    return render_template(request, "subscriptions/added_feeds_list.html", rows=rows, stream=stream, problems=problems)


routes = [Route("/subscribe/add", add_feeds, methods=["POST"])]
