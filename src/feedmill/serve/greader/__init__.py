"""The Google Reader API, which most reader apps speak; it translates to the library and decides nothing itself.

`routes` has the paths as apps build them, and those of FreshRSS below `/api/greader.php`. Whoever calls is found by the
token of `/accounts/ClientLogin`; no cookie counts here, so no other site can act for a reader.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from feedmill.errors import CallerError
from feedmill.model.user import Caller
from feedmill.serve.greader import atom, authentication, edits, items, lists, subscriptions
from feedmill.serve.greader.responses import FRESHRSS, refusal
from feedmill.serve.http.app_parameters import AppParameters

Handler = Callable[[Request, Caller], Awaitable[Response]]
HandlerWithParameters = Callable[[Request, Caller, AppParameters], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]

PREFIXES = ("", FRESHRSS)
API = "/reader/api/0"
GET, POST, EITHER = ["GET"], ["POST"], ["GET", "POST"]


def _plain(handler: Handler) -> Endpoint:
    """An endpoint whose handler reads no parameters."""

    async def endpoint(request: Request) -> Response:
        try:
            return await handler(request, await authentication.caller_of_app(request))
        except CallerError as error:
            return refusal(error)

    return endpoint


def _with_parameters(handler: HandlerWithParameters) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            return await handler(request, *await authentication.caller_with_parameters(request))
        except CallerError as error:
            return refusal(error)

    return endpoint


async def _sign_in(request: Request) -> Response:
    try:
        return await authentication.client_login(request)
    except CallerError as error:
        return refusal(error)


async def _unknown(request: Request) -> Response:
    return PlainTextResponse("there is nothing at this address", 404)


def _routes(prefix: str) -> list[Route]:
    api = prefix + API
    with_parameters: list[tuple[str, HandlerWithParameters, list[str]]] = [
        ("/stream/items/ids", items.list_item_ids, EITHER),
        ("/stream/items/count", items.count_items, GET),
        ("/stream/items/contents", items.read_item_contents, EITHER),
        ("/stream/contents", items.read_stream_contents, EITHER),
        ("/stream/contents/{stream:path}", items.read_stream_contents, EITHER),
        ("/subscribed", lists.is_subscribed, GET),
        ("/edit-tag", edits.edit_tags, POST),
        ("/mark-all-as-read", edits.mark_all_as_read, POST),
        ("/rename-tag", edits.rename_tag, POST),
        ("/disable-tag", edits.disable_tag, POST),
        ("/subscription/edit", subscriptions.edit_subscriptions, POST),
        ("/subscription/quickadd", subscriptions.quick_add, POST),
    ]
    plain: list[tuple[str, Handler, list[str]]] = [
        ("/token", authentication.edit_token, GET),
        ("/user-info", lists.user_info, GET),
        ("/subscription/list", lists.list_subscriptions, GET),
        ("/tag/list", lists.list_tags, GET),
        ("/unread-count", lists.count_unread, GET),
        ("/subscription/export", subscriptions.export_subscriptions, GET),
        ("/subscription/import", subscriptions.import_subscriptions, POST),
    ]
    return [
        Route(f"{prefix}/accounts/ClientLogin", _sign_in, methods=EITHER),
        *(Route(api + path, _with_parameters(handler), methods=methods) for path, handler, methods in with_parameters),
        *(Route(api + path, _plain(handler), methods=methods) for path, handler, methods in plain),
        Route(f"{prefix}/reader/atom/{{stream:path}}", _with_parameters(atom.read_atom), methods=GET),
        Route(f"{prefix}/reader/{{path:path}}", _unknown, methods=EITHER),
    ]


routes = [route for prefix in PREFIXES for route in _routes(prefix)]
