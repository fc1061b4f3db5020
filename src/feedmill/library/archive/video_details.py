"""Asks video sites for the titles and pictures of the videos in articles, when somebody looks at them.

The answer is stored: a site is asked once, and again after a day if it did not know the video.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec

from feedmill.absolute_urls import absolute_url
from feedmill.collect.entries.storable_text import storable_text
from feedmill.html.plain_text import plain_text
from feedmill.html.players import Player
from feedmill.model.fetch_outcome import Gone, HttpError, Refused, Response
from feedmill.model.timestamps import to_iso
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.store.archive.video_details import VideoDetails, read_video_details, save_video_details
from feedmill.store.database import Database

LIMITS = FetchLimits(max_bytes=100_000)
ASK_AGAIN = timedelta(days=1)
LONGEST_TITLE = 300


class OembedAnswer(msgspec.Struct):
    """The part of an oEmbed response that cards show."""

    title: str | None = None
    thumbnail_url: str | None = None


async def known_videos(db: Database, players: Collection[Player], now: datetime) -> dict[Player, VideoDetails]:
    """What is known of these videos, without those that a site may be asked for now."""
    stored = await read_video_details(db, [_name(player) for player in players])
    named = {player: stored[_name(player)] for player in players if _name(player) in stored}
    return {player: details for player, details in named.items() if not _is_outdated(details, now)}


async def find_video(db: Database, client: Client, player: Player, now: datetime) -> VideoDetails | None:
    """The details of a video; None if its site can't be asked now."""
    known = (await known_videos(db, [player], now)).get(player)
    if known is not None:
        return known
    match await client.get(player.details_url, limits=LIMITS):
        case Response(body=body):
            answer = read_oembed(body)
        case HttpError() | Gone() | Refused():
            answer = OembedAnswer()
        case _:
            return None
    return await save_video_details(db, _name(player), answer.title, answer.thumbnail_url, now)


def read_oembed(body: bytes) -> OembedAnswer:
    """The title and the picture that a response names, as far as they can be shown."""
    try:
        answer = msgspec.json.decode(body, type=OembedAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return OembedAnswer()
    title = storable_text(plain_text(answer.title or "", LONGEST_TITLE)) or None
    return OembedAnswer(title, storable_text(absolute_url(answer.thumbnail_url or "")))


def _name(player: Player) -> str:
    return f"{player.site}/{player.id}"


def _is_outdated(details: VideoDetails, now: datetime) -> bool:
    is_empty = details.title is None and details.picture_url is None
    return is_empty and details.fetched_at < to_iso(now - ASK_AGAIN)
