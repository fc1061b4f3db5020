"""The REST API of Miniflux (`/v1`), which some reader apps and programs speak, on the library.

What concerns reading is here. What changes accounts and keys is refused: an app password has no such rights. No cookie
counts, so any site may call it: whoever has no app password gets nothing.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import CallerError
from feedmill.model.max_id import MAX_ID
from feedmill.model.user import Caller
from feedmill.serve.miniflux import account, categories, enclosures, entries, feeds
from feedmill.serve.miniflux.authentication import caller_of_app
from feedmill.serve.miniflux.responses import HEADERS, error_response, json_response

Handler = Callable[[Request, Caller], Awaitable[Response]]

FEED, CATEGORY = "/feeds/{feed_id:int}", "/categories/{category_id:int}"
ENTRY = "/entries/{entry_id:int}"
HANDLERS: dict[str, dict[str, Handler]] = {
    "/me": {"GET": account.me},
    "/version": {"GET": account.version},
    "/integrations/status": {"GET": account.integrations_status},
    "/users": {"GET": account.list_users, "POST": account.refuse},
    "/users/{user}": {"GET": account.read_user, "PUT": account.refuse, "DELETE": account.refuse},
    "/users/{user}/mark-all-as-read": {"PUT": account.mark_user_read},
    "/api-keys": {"GET": account.refuse, "POST": account.refuse},
    "/api-keys/{key}": {"DELETE": account.refuse},
    "/flush-history": {"PUT": account.flush_history, "DELETE": account.flush_history},
    "/categories": {"GET": categories.list_categories, "POST": categories.create_category},
    CATEGORY: {"PUT": categories.update_category, "DELETE": categories.delete_category},
    f"{CATEGORY}/mark-all-as-read": {"PUT": categories.mark_category_read},
    f"{CATEGORY}/refresh": {"PUT": categories.refresh_category},
    f"{CATEGORY}/feeds": {"GET": categories.list_category_feeds},
    f"{CATEGORY}/entries": {"GET": entries.list_entries},
    f"{CATEGORY}{ENTRY}": {"GET": entries.read_entry},
    "/discover": {"POST": feeds.discover_feeds},
    "/feeds": {"GET": feeds.list_feeds, "POST": feeds.create_feed},
    "/feeds/counters": {"GET": feeds.count_entries_of_feeds},
    "/feeds/refresh": {"PUT": feeds.refresh_all_feeds},
    FEED: {"GET": feeds.read_feed, "PUT": feeds.update_feed, "DELETE": feeds.delete_feed},
    f"{FEED}/refresh": {"PUT": feeds.refresh_feed},
    f"{FEED}/mark-all-as-read": {"PUT": feeds.mark_feed_read},
    f"{FEED}/icon": {"GET": feeds.read_icon},
    f"{FEED}/entries": {"GET": entries.list_entries},
    f"{FEED}/entries/import": {"POST": entries.import_entry},
    f"{FEED}{ENTRY}": {"GET": entries.read_entry},
    "/icons/{feed_id:int}": {"GET": feeds.read_icon},
    "/entries": {"GET": entries.list_entries, "PUT": entries.update_entries},
    "/entries/ids": {"GET": entries.list_entry_ids},
    ENTRY: {"GET": entries.read_entry, "PUT": entries.update_entry},
    f"{ENTRY}/bookmark": {"PUT": entries.toggle_star},
    f"{ENTRY}/star": {"PUT": entries.toggle_star},
    f"{ENTRY}/save": {"POST": entries.save_entry},
    f"{ENTRY}/fetch-content": {"GET": entries.fetch_content},
    "/enclosures/{enclosure_id:int}": {"GET": enclosures.read_enclosure, "PUT": enclosures.update_enclosure},
    "/export": {"GET": feeds.export_feeds},
    "/import": {"POST": feeds.import_feeds},
}


def _endpoint(handlers: dict[str, Handler]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=HEADERS)
        try:
            who = await caller_of_app(request)
            if any(isinstance(id, int) and id > MAX_ID for id in request.path_params.values()):
                return await _unknown(request)
            return await handlers["GET" if request.method == "HEAD" else request.method](request, who)
        except CallerError as error:
            return error_response(error)

    return endpoint


async def _unknown(request: Request) -> Response:
    return json_response({"error_message": "there is nothing at this address"}, 404)


routes = [
    *(Route(f"/v1{path}", _endpoint(handlers), methods=[*handlers, "OPTIONS"]) for path, handlers in HANDLERS.items()),
    Route("/v1/{path:path}", _unknown, methods=["GET", "POST", "PUT", "DELETE"]),
]
