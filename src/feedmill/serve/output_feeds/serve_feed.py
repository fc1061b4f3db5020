"""Answers requests for output feeds: the page, 304 if the client has it, 404 for a guess, 410 after a revocation."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from feedmill.app import App
from feedmill.errors import CallerError, LimitExceeded
from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat, announcing_hub
from feedmill.library.output_feeds.manage_output_feeds import OutputFeedRevoked, open_output_feed
from feedmill.library.output_feeds.read_page import (
    MOST_ENTRIES,
    USUAL_ENTRIES,
    OutputPage,
    feed_urn,
    read_output_page,
    render_output_page,
)
from feedmill.model.syndication.output_feed import OutputFeed, OutputListKind
from feedmill.serve.http.app_images import site_of
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.cache_headers import NO_STORE, matches_etag
from feedmill.serve.http.security_headers import INERT_HEADERS
from feedmill.serve.output_feeds import atom, json_feed
from feedmill.serve.output_feeds.document import OutputDocument
from feedmill.serve.output_feeds.images import image_urls_for_output_feed

Writer = Callable[[OutputDocument], bytes]

WRITERS: dict[OutputFormat, tuple[Writer, str]] = {
    OutputFormat.ATOM: (atom.write_atom, atom.MEDIA_TYPE),
    OutputFormat.JSON_FEED: (json_feed.write_json_feed, json_feed.MEDIA_TYPE),
}
# No cache may keep it, so that a revocation holds at once, and no search engine may list it.
HEADERS = INERT_HEADERS | {
    "Cache-Control": "private, no-cache",
    "X-Robots-Tag": "noindex",
    "Referrer-Policy": "no-referrer",
}
# Lists whose page has another path than the list has a name.
OTHER_PAGES = {OutputListKind.SEARCH: "search", OutputListKind.FILTER: "all", OutputListKind.POOL: "pools"}
# Parameters: the cursor of a page, and how many entries it has.
BEFORE, ENTRIES = "before", "entries"
MAX_CURSOR_LENGTH = 200
NOTHING_HERE = "there is nothing at this address"


async def serve_output_feed(request: Request) -> Response:
    try:
        return await _serve(request)
    except OutputFeedRevoked:
        return PlainTextResponse("this feed was revoked", 410, INERT_HEADERS | NO_STORE)
    except LimitExceeded as error:
        headers = {"Retry-After": str(error.retry_after or 1)}
        return PlainTextResponse("too many wrong addresses", 429, INERT_HEADERS | NO_STORE | headers)
    except CallerError:
        return PlainTextResponse(NOTHING_HERE, 404, INERT_HEADERS | NO_STORE)


async def _serve(request: Request) -> Response:
    app: App = request.app.state.app
    now, secret = app.tools.clock(), request.path_params["secret"]
    # Whatever else it is, it is counted as a guess.
    owner, feed = await open_output_feed(app.db, secret if secret.isascii() else "", origin_of(request), now)
    address = _address(request)
    if address is None:
        return PlainTextResponse(NOTHING_HERE, 404, INERT_HEADERS | NO_STORE)
    page = await read_output_page(app.db, owner, feed, _cursor(request), _entries_per_page(request), now)
    headers = HEADERS | _validators(app, address, page)
    hub_url = announcing_hub(app.settings) if feed.announces else ""
    if hub_url:
        headers["Link"] = f'<{hub_url}>; rel="hub", <{address.url}>; rel="self"'
    if _is_known(request, headers["ETag"], page.changed_at):
        return Response(status_code=304, headers=headers)
    # In a thread: texts of fifty entries are made safe.
    body = await asyncio.to_thread(_write, app, address, feed, page, _page_parameters(request))
    return Response(body, headers=headers, media_type=WRITERS[address.format][1])


def _address(request: Request) -> OutputAddress | None:
    """The address without parameters; None for a file that no output feed has."""
    file = request.path_params["file"]
    if file not in tuple(OutputFormat):
        return None
    return OutputAddress(site_of(request), request.path_params["secret"], OutputFormat(file))


def _cursor(request: Request) -> str | None:
    return request.query_params.get(BEFORE, "")[:MAX_CURSOR_LENGTH] or None


def _entries_per_page(request: Request) -> int:
    asked = request.query_params.get(ENTRIES, "")
    if not (asked.isascii() and asked.isdigit() and len(asked) <= 4):
        return USUAL_ENTRIES
    return min(max(int(asked), 1), MOST_ENTRIES)


def _page_parameters(request: Request) -> dict[str, str]:
    """The parameters of this page that its own address and that of the next one have."""
    most, cursor = _entries_per_page(request), _cursor(request)
    return ({ENTRIES: str(most)} if most != USUAL_ENTRIES else {}) | ({BEFORE: cursor} if cursor else {})


def _validators(app: App, address: OutputAddress, page: OutputPage) -> dict[str, str]:
    """The ETag is weak: it is that of the content, and also depends on where images are loaded from."""
    probe = image_urls_for_output_feed(app.settings, address.site, 0)("")
    named = "\n".join((page.digest, address.url, probe, announcing_hub(app.settings)))
    headers = {"ETag": f'W/"{blake2b(named.encode(), digest_size=16).hexdigest()}"'}
    return headers | ({"Last-Modified": format_datetime(page.changed_at, usegmt=True)} if page.changed_at else {})


def _is_known(request: Request, etag: str, changed_at: datetime | None) -> bool:
    """Whether the client has the page. `If-Modified-Since` counts only without `If-None-Match` (RFC 9110)."""
    if "if-none-match" in request.headers:
        return matches_etag(request, etag)
    since = _http_date(request.headers.get("if-modified-since", ""))
    return changed_at is not None and since is not None and changed_at <= since


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _write(app: App, address: OutputAddress, feed: OutputFeed, page: OutputPage, asked: dict[str, str]) -> bytes:
    image_url = image_urls_for_output_feed(app.settings, address.site, feed.id)
    entries = render_output_page(page, image_url)
    newest = max((entry.updated_at for entry in entries), default=feed.created_at)
    document = OutputDocument(
        address=address,
        id=feed_urn(page, feed),
        title=feed.name,
        home_url=f"{address.site}/{OTHER_PAGES.get(feed.list.kind, feed.list.name)}",
        updated_at=page.changed_at or newest,
        entries=entries,
        self_url=address.page(**asked),
        next_url=address.page(**asked | {BEFORE: page.next}) if page.next else None,
        hub_url=announcing_hub(app.settings) if feed.announces else "",
    )
    write, _ = WRITERS[address.format]
    return write(document)
