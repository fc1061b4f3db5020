"""`/websub/TOKEN`: the callbacks at which WebSub hubs confirm subscriptions (GET) and push what is new (POST).

A push is stored, the hub is answered, and then the feed is refreshed with it in this process, so that open pages show
it at once. If this process dies before, the loop that uses pushes does it.
"""

import asyncio

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError, TooLarge
from feedmill.i18n.messages import Message
from feedmill.library.hubs.callbacks import CALLBACK_PATH
from feedmill.library.hubs.confirm_intent import answer_hub
from feedmill.library.hubs.push_turns import PushTurns
from feedmill.library.hubs.receive_push import SIGNATURE_HEADER, PushReceiver, PushVerdict
from feedmill.serve.http.body_limits import with_body_limit
from feedmill.serve.http.cache_headers import NO_STORE
from feedmill.serve.http.security_headers import INERT_HEADERS

HEADERS = INERT_HEADERS | NO_STORE
# Never a type that a browser would show: it is text of the hub.
CHALLENGE_TYPE = "application/octet-stream"
RETRY_SECONDS = "600"
# How long a hub may take to send a push.
READ_SECONDS = 60.0
TOO_LARGE = TooLarge(Message("error.push_too_large"))


async def confirm(request: Request) -> Response:
    """Answers with the challenge if we want what the hub asks about, else 404."""
    app: App = request.app.state.app
    asked = dict(request.query_params)
    challenge = await answer_hub(app.db, _token(request), asked, app.tools.clock())
    if challenge is None:
        return PlainTextResponse("there is nothing at this address", 404, HEADERS)
    return Response(challenge, headers=HEADERS, media_type=CHALLENGE_TYPE)


async def receive(request: Request) -> Response:
    """Stores a push. The answer says that it arrived, not that it was genuine."""
    app: App = request.app.state.app
    receiver = PushReceiver(app.db, app.blobs)
    subscription = await receiver.find(_token(request))
    if subscription is None:
        # So that the hub ends the subscription.
        return Response(status_code=410, headers=HEADERS)
    if SIGNATURE_HEADER not in request.headers:
        return Response(status_code=202, headers=HEADERS)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        return Response(status_code=415, headers=HEADERS)
    turns: PushTurns = request.app.state.push_turns
    try:
        async with turns.turn(subscription.id):
            body = await _read_body(request)
            verdict = await receiver.receive(subscription, body, request.headers, app.tools.clock())
    except TooLarge:
        return Response(status_code=413, headers=HEADERS | {"Connection": "close"})
    except (TimeoutError, ClientDisconnect):
        return Response(status_code=408, headers=HEADERS | {"Connection": "close"})
    except InfrastructureError as error:
        DEPENDENCY_OUTAGES.failed("receive_push", error)
        return Response(status_code=503, headers=HEADERS | {"Retry-After": RETRY_SECONDS})
    if verdict is PushVerdict.TOO_MANY:
        return Response(status_code=429, headers=HEADERS | {"Retry-After": RETRY_SECONDS})
    task = BackgroundTask(_use_pushes, request) if verdict is PushVerdict.ACCEPTED else None
    return Response(status_code=202, headers=HEADERS, background=task)


async def _read_body(request: Request) -> bytes:
    """The body; raises `TooLarge` or `TimeoutError`."""
    app: App = request.app.state.app
    async with asyncio.timeout(READ_SECONDS):
        return await with_body_limit(request, app.settings.max_feed_bytes, TOO_LARGE).body()


async def _use_pushes(request: Request) -> None:
    """Uses what was pushed, one chunk at a time, and wakes the pages that wait for it."""
    app: App = request.app.state.app
    lock: asyncio.Lock = request.app.state.push_lock
    try:
        async with lock:
            while await app.push_user.use():
                await request.app.state.count_watcher.check(with_sums=False)
    except InfrastructureError as error:
        DEPENDENCY_OUTAGES.failed("use_pushes", error)


def _token(request: Request) -> str:
    token = str(request.path_params["token"])
    return token if token.isascii() else ""


routes = [
    Route(f"{CALLBACK_PATH}/{{token}}", confirm, methods=["GET"]),
    Route(f"{CALLBACK_PATH}/{{token}}", receive, methods=["POST"]),
]
