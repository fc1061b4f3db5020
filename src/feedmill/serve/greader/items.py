"""`stream/items/ids`, `stream/items/contents` and `stream/contents` of the Google Reader API."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from feedmill.app import App
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.entries.sync_entries import RenderedEntry, count_entries, rendered_entries, sync_ids
from feedmill.model.sync_query import SyncQuery
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Caller
from feedmill.serve.greader.item_ids import long_id, parse_item_id, short_id
from feedmill.serve.greader.responses import NO_CACHE, json_as_freshrss, json_response
from feedmill.serve.greader.streams import (
    FEED,
    LABEL,
    READ,
    READING_LIST,
    STARRED,
    UserStreams,
    normal_stream,
    stream_query,
    streams_of,
)
from feedmill.serve.http.app_images import image_urls_for
from feedmill.serve.http.app_parameters import AppParameters

MOST_IDS, USUAL_IDS = 1_000_000, 20
MOST_CONTENTS, USUAL_CONTENTS = 1000, 20
MOST_NAMED = 10_000
MILLISECONDS, MICROSECONDS = 1000, 1_000_000
# The newest time that apps can keep: they read seconds as a number of 32 bits.
LATEST = 2**31 - 1


async def list_item_ids(request: Request, who: Caller, sent: AppParameters) -> Response:
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    query = _query(streams, sent, sent.text("s") or READING_LIST, USUAL_IDS, MOST_IDS)
    found = await sync_ids(app.db, who.user.id, replace(query, most=query.most + 1))
    page = {"itemRefs": [{"id": short_id(id)} for id in found[: query.most]]}
    return json_as_freshrss(request, page | _continuation(found, query.most))


async def count_items(request: Request, who: Caller, sent: AppParameters) -> Response:
    """How many entries a stream has; with `a=true` also `#` and when the newest was stored."""
    app: App = request.app.state.app
    query = _query(await streams_of(app, who.user.id), sent, sent.text("s") or READING_LIST, 1, 1)
    count = str(await count_entries(app.db, who.user.id, query))
    if sent.text("a") == "true":
        newest = await rendered_entries(app.db, who.user.id, await sync_ids(app.db, who.user.id, query), str)
        count = "#".join([count, *(to_iso(entry.first_seen_at) for entry in newest)])
    return PlainTextResponse(count, headers=NO_CACHE)


async def read_item_contents(request: Request, who: Caller, sent: AppParameters) -> Response:
    """The entries whose ids are sent, in any form; unknown ones are left out."""
    written = sent.all("i")
    if len(written) > MOST_NAMED:
        raise BadInput(Message("error.too_many_ids", most=MOST_NAMED), field="i")
    ids = [id for id in map(parse_item_id, written) if id is not None]
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    return json_response(await _items(request, who, streams, ids, READING_LIST))


async def read_stream_contents(request: Request, who: Caller, sent: AppParameters) -> Response:
    app: App = request.app.state.app
    stream = request.path_params.get("stream") or sent.text("s") or READING_LIST
    streams = await streams_of(app, who.user.id)
    query = _query(streams, sent, stream, USUAL_CONTENTS, MOST_CONTENTS)
    found = await sync_ids(app.db, who.user.id, replace(query, most=query.most + 1))
    page = await _items(request, who, streams, found[: query.most], normal_stream(stream))
    return json_response(page | _continuation(found, query.most))


async def _items(
    request: Request, who: Caller, streams: UserStreams, ids: Sequence[int], stream: str
) -> dict[str, Any]:
    app: App = request.app.state.app
    assert who.app_password is not None
    image_url = image_urls_for(request, who.app_password.id)
    found = await rendered_entries(app.db, who.user.id, ids, image_url)
    categories = streams.categories
    now = round(app.tools.clock().timestamp())
    # In a thread, because apps ask for up to 10,000.
    items = await asyncio.to_thread(lambda: [to_item(entry, categories) for entry in found])
    return {"id": stream, "updated": now, "items": items}


def to_item(entry: RenderedEntry, folders: Mapping[int, Sequence[str]]) -> dict[str, Any]:
    """An entry as apps expect it; `summary` has nothing before `content`, because newsboat takes what comes first."""
    crawled = entry.first_seen_at.timestamp()
    published = min(max(round(entry.published_at.timestamp()), 0), LATEST)
    names = [*folders.get(entry.subscription_id, ()), *entry.labels]
    states = [*([] if entry.is_unread else [READ]), *([STARRED] if entry.starred_at else [])]
    item: dict[str, Any] = {
        "id": long_id(entry.id),
        "crawlTimeMsec": str(round(crawled * MILLISECONDS)),
        "timestampUsec": str(round(crawled * MICROSECONDS)),
        "published": published,
        "updated": published,
        "title": entry.title,
        "author": entry.author,
        "canonical": [{"href": entry.link}],
        "alternate": [{"href": entry.link, "type": "text/html"}],
        "summary": {"content": entry.html},
        "categories": [READING_LIST, *(LABEL + name for name in dict.fromkeys(names)), *states],
        "origin": {
            "streamId": FEED + str(entry.subscription_id),
            "title": entry.feed_title,
            "htmlUrl": entry.site_url,
        },
    }
    if entry.enclosures:
        item["enclosure"] = [
            {"href": each.url, "type": each.type or "", "length": each.length or 0} for each in entry.enclosures
        ]
    return item


def _query(streams: UserStreams, sent: AppParameters, stream: str, usual: int, most: int) -> SyncQuery:
    query = stream_query(streams, normal_stream(stream), sent.all("xt"), sent.all("it"))
    oldest_first = sent.text("r") == "o"
    last = _cursor(sent)
    return replace(
        query,
        most=min(sent.number("n", usual) or usual, most),
        oldest_first=oldest_first,
        after_id=last if last is not None and oldest_first else 0,
        before_id=last if last is not None and not oldest_first else query.before_id,
        seen_since=_moment(sent, "ot"),
        seen_until=_moment(sent, "nt"),
    )


def _cursor(sent: AppParameters) -> int | None:
    """The id of the last entry of the page before."""
    written = sent.text("c")
    if not written:
        return None
    id = parse_item_id(written)
    if id is None:
        raise BadInput(Message("error.bad_cursor"), field="c")
    return id


def _continuation(found: Sequence[int], most: int) -> dict[str, str]:
    return {"continuation": short_id(found[most - 1])} if len(found) > most else {}


def _moment(sent: AppParameters, name: str) -> datetime | None:
    """A time in seconds; None if it is absent or 0."""
    seconds = sent.number(name)
    if not seconds:
        return None
    return datetime.fromtimestamp(min(seconds, LATEST), UTC)
