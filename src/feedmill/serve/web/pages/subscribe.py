"""`/subscribe`: paste any address, see what is there, choose, add."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.discovery import Tried
from feedmill.library.starters import TOPICS
from feedmill.model.account import User
from feedmill.serve.web.choices import INTERVALS, POLICIES, folder_choices, read_options
from feedmill.serve.web.entry_choices import label_choices
from feedmill.serve.web.finding import Found, address_in, find
from feedmill.serve.web.page import form, go, render, show, signed_in, text, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.streams import message, streamed
from feedmill.serve.web.troubles import host_of
from feedmill.store.subscriptions import count_subscriptions


async def ask(request: Request) -> Response:
    """The form; with an address in the request also what is there, for bookmarklets and what other apps share."""
    caller = await signed_in(request)
    asked = request.query_params
    url = address_in(asked.get("url", ""), asked.get("text", ""))
    found = await find(request, caller.user, url) if url else None
    return await shown(request, caller.user, url, found)


async def look(request: Request) -> Response:
    """Without scripts: the same page with what was found. An address alone has a page that can be kept."""
    caller = await signed_in(request)
    sent = await form(request)
    url = address_in(text(sent, "url"))
    try:
        options = read_options(sent)
    except BadInput:
        return await shown(request, caller.user, url, None, {"url": "subscribe.bad_option"}, 422)
    if not url:
        return await shown(request, caller.user, "", None, {"url": "subscribe.no_address"}, 422)
    if options is None and "@" not in url:
        return go(f"/subscribe?url={quote(url)}")
    return await shown(request, caller.user, url, await find(request, caller.user, url, options))


async def watch(request: Request) -> Response:
    """With scripts: each step as it happens, then what was found."""
    caller = await signed_in(request)
    sent = await form(request)
    return streamed(_looking(request, caller.user, sent))


async def _looking(request: Request, user: User, sent: FormData) -> AsyncGenerator[bytes, None]:
    url = address_in(text(sent, "url"))
    try:
        options = read_options(sent)
    except BadInput:
        yield message(render(request, "parts/subscribe_wrong.html", key="subscribe.bad_option"))
        return
    if not url:
        yield message(render(request, "parts/subscribe_wrong.html", key="subscribe.no_address"))
        return
    told: asyncio.Queue[Tried | None] = asyncio.Queue()
    finding = asyncio.create_task(find(request, user, url, options, told.put_nowait))
    finding.add_done_callback(lambda _: told.put_nowait(None))
    try:
        yield message(render(request, "parts/looking.html", host=host_of(url), steps=[]))
        steps: dict[str, str] = {}
        while (step := await told.get()) is not None:
            steps[step.url] = step.answer
            yield message(render(request, "parts/looking.html", host=host_of(url), steps=steps.items()))
        values = await _choices(request, user)
        yield message(render(request, "parts/found.html", found=await finding, **values))
    finally:
        finding.cancel()
        with suppress(asyncio.CancelledError):
            await finding


async def shown(
    request: Request, user: User, url: str, found: Found | None, errors: dict[str, str] | None = None, status: int = 200
) -> Response:
    values = await _choices(request, user) | {"url": url, "found": found, "errors": errors or {}, "results": []}
    if is_partial(request):
        return render(request, "parts/subscribe_form.html", status, **values)
    is_new = not await count_subscriptions(the_app(request).db, user.id)
    return await show(request, "subscribe.html", status, is_new=is_new, topics=TOPICS, wrong="", **values)


async def _choices(request: Request, user: User) -> dict[str, Any]:
    db = the_app(request).db
    folders, labels = await folder_choices(db, user.id), await label_choices(db, user.id)
    return {"folder_choices": folders, "label_choices": labels, "intervals": INTERVALS, "policies": POLICIES}


routes = [
    Route("/subscribe", ask, methods=["GET"]),
    Route("/subscribe", look, methods=["POST"]),
    Route("/subscribe/look", watch, methods=["POST"]),
]
