"""`/item/n/video`: the picture of a video in an article, or its title; the server asks the site of the video.

As with images, the address is signed, so that only videos of our own pages are asked for.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.html.frame_cards import CardPicture
from feedmill.html.players import Player, find_player
from feedmill.i18n.messages import Message
from feedmill.library.archive.video_details import find_video, known_videos
from feedmill.library.entries.article import find_entry
from feedmill.serve.http.cache_headers import NO_STORE
from feedmill.serve.http.security_headers import INERT_HEADERS
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.entries.article_images import check_signature, image_path, signed_query

# How long a reader waits for the site; browsers open few connections to us.
WAIT_SECONDS = 6
RETRY = {"Retry-After": "3"}


async def card_pictures(request: Request, entry_id: int, players: Iterable[Player]) -> dict[Player, CardPicture]:
    """The pictures and titles of the videos of an article, as far as they are known; the others are asked for."""
    every = set(players)
    known = await known_videos(the_app(request).db, every, datetime.now(UTC)) if every else {}
    pictures: dict[Player, CardPicture] = {}
    for player in every:
        if (details := known.get(player)) is None:
            path = f"/item/{entry_id}/video?{signed_query(request, entry_id, player.page_url)}"
            pictures[player] = CardPicture(path, title_url=f"{path}&title=yes")
        elif picture_url := details.picture_url or player.picture_url:
            pictures[player] = CardPicture(image_path(request, entry_id, picture_url), details.title or "")
        else:
            pictures[player] = CardPicture("", details.title or "")
    return pictures


async def show_video(request: Request) -> Response:
    caller = await signed_in(request)
    app, entry_id, url = the_app(request), path_id(request), request.query_params.get("url", "")
    check_signature(request, entry_id, url)
    await find_entry(app.db, caller.user.id, entry_id)
    player = find_player(url)
    if player is None:
        raise NotFound(Message("error.no_such_page"))
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            details = await find_video(app.db, app.client, player, datetime.now(UTC))
    except TimeoutError:
        details = None
    if details is None:
        return Response(status_code=503, headers=INERT_HEADERS | NO_STORE | RETRY)
    if request.query_params.get("title"):
        return PlainTextResponse(details.title or "", 200 if details.title else 404, INERT_HEADERS | NO_STORE)
    picture_url = details.picture_url or player.picture_url
    if picture_url is None:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    return RedirectResponse(image_path(request, entry_id, picture_url), 303, NO_STORE)


routes = [Route("/item/{id:int}/video", show_video)]
