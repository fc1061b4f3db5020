"""`/subscribe`: discovers the feeds at a URL, with live progress, and offers them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.collect.discovery.request_log import DiscoveryStep
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.feeds.starter_feeds import TOPICS
from feedmill.library.subscriptions.lookup import has_subscriptions
from feedmill.model.fetch_options import TEXT_OPTIONS
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.core.sse_fragments import event_stream, fragment_event
from feedmill.serve.web.feeds.http_option_fields import read_http_options
from feedmill.serve.web.feeds.subscription_fields import INTERVALS, POLICIES, folder_options
from feedmill.serve.web.filters.filter_fields import label_options
from feedmill.serve.web.subscriptions.add_feed_fields import ADD_FEED_FIELDS
from feedmill.serve.web.subscriptions.discovery_view import DiscoveryView, discover_at, url_in_text
from feedmill.serve.web.subscriptions.subscribe_problems import display_host


async def show_subscribe(request: Request) -> Response:
    """The form; with a URL in the query also the feeds there, for bookmarklets and sharing from other apps."""
    caller = await signed_in(request)
    asked = request.query_params
    url = url_in_text(asked.get("url", ""), asked.get("text", ""))
    found = await discover_at(request, caller.user, url) if url else None
    return await subscribe_page(request, caller.user, url, found)


@accepts_form(ADD_FEED_FIELDS)
async def discover_feeds(request: Request) -> Response:
    """Without scripts: the same page with the feeds found. A URL alone redirects to a page that can be bookmarked."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    url = url_in_text(form_text(sent, "url"))
    try:
        options = read_http_options(sent)
    except BadInput:
        return await subscribe_page(request, caller.user, url, None, {"url": "subscribe.bad_option"}, 422)
    if not url:
        return await subscribe_page(request, caller.user, "", None, {"url": "subscribe.no_address"}, 422)
    if options is None and "@" not in url:
        return redirect(f"/subscribe?url={quote(url)}")
    return await subscribe_page(request, caller.user, url, await discover_at(request, caller.user, url, options))


@accepts_form(ADD_FEED_FIELDS)
async def stream_discovery(request: Request) -> Response:
    """With scripts: streams each request, then the feeds that were found."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    return event_stream(_discovery_events(request, caller.user, sent))


async def _discovery_events(request: Request, user: User, sent: FormData) -> AsyncGenerator[bytes, None]:
    url = url_in_text(form_text(sent, "url"))
    try:
        options = read_http_options(sent)
    except BadInput:
        yield fragment_event(
            render_template(request, "subscriptions/subscribe_form_error.html", key="subscribe.bad_option")
        )
        return
    if not url:
        yield fragment_event(
            render_template(request, "subscriptions/subscribe_form_error.html", key="subscribe.no_address")
        )
        return
    queue: asyncio.Queue[DiscoveryStep | None] = asyncio.Queue()
    finding = asyncio.create_task(discover_at(request, user, url, options, queue.put_nowait))
    finding.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        yield fragment_event(
            render_template(request, "subscriptions/discovery_progress.html", host=display_host(url), steps=[])
        )
        steps: dict[str, Message | None] = {}
        while (step := await queue.get()) is not None:
            steps[step.url] = step.answer
            yield fragment_event(
                render_template(
                    request, "subscriptions/discovery_progress.html", host=display_host(url), steps=steps.items()
                )
            )
        values = await _option_values(request, user)
        yield fragment_event(
            render_template(request, "subscriptions/discovery_result.html", found=await finding, **values)
        )
    finally:
        finding.cancel()
        with suppress(asyncio.CancelledError):
            await finding


async def subscribe_page(
    request: Request,
    user: User,
    url: str,
    found: DiscoveryView | None,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> Response:
    values = await _option_values(request, user) | {"url": url, "found": found, "errors": errors or {}, "results": []}
    if is_fragment_request(request):
        return render_template(request, "subscriptions/subscribe_form.html", status, **values)
    is_new = not await has_subscriptions(the_app(request).db, user.id)
    return await render_page(
        request, "subscriptions/subscribe.html", status, is_new=is_new, topics=TOPICS, wrong="", **values
    )


async def _option_values(request: Request, user: User) -> dict[str, Any]:
    db = the_app(request).db
    folders, labels = await folder_options(db, user.id), await label_options(db, user.id)
    choices = {"folder_choices": folders, "label_choices": labels, "intervals": INTERVALS, "policies": POLICIES}
    return choices | {"text_options": TEXT_OPTIONS}


routes = [
    Route("/subscribe", show_subscribe, methods=["GET"]),
    Route("/subscribe", discover_feeds, methods=["POST"]),
    Route("/subscribe/discover", stream_discovery, methods=["POST"]),
]
