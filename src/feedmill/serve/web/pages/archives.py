"""`/archive`: how much is kept of a person's feeds, and for admins what retention would take away."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.archive.retention import Purged, foresee, read_keeping
from feedmill.library.archives import FeedSpace, forecast, measure_feeds
from feedmill.model.sizes import size_in_words
from feedmill.serve.web.page import show, signed_in, speech, the_app
from feedmill.serve.web.plots import Mark, stacked
from feedmill.serve.web.words import Words

SHOWN_FEEDS = 200
LONGEST_DAYS = 36_500


async def space(request: Request) -> Response:
    caller = await signed_in(request)
    app = the_app(request)
    feeds = await measure_feeds(app.db, caller.user.id)
    days = _days(request.query_params.get("days", ""))
    would_go = await _would_go(request, days) if caller.user.is_admin and days is not None else None
    raw_keep = timedelta(days=app.settings.raw_days)
    return await show(
        request, "archives.html", feeds=feeds[:SHOWN_FEEDS], total=len(feeds), settings=app.settings, days=days,
        would_go=would_go, bars=_bars(feeds[:SHOWN_FEEDS], speech(request)[0]),
        ahead=await forecast(app.db, caller.user.id, feeds, raw_keep, datetime.now(UTC)),
        raw_bytes=sum(each.space.raw_bytes for each in feeds),
        image_bytes=sum(each.space.image_bytes for each in feeds),
    )  # fmt: skip


def _days(asked: str) -> int | None:
    return min(int(asked), LONGEST_DAYS) if asked.isdecimal() and len(asked) < 7 else None


async def _would_go(request: Request, days: int) -> Purged:
    """What would be dropped now if entries were kept for so many days."""
    app = the_app(request)
    keeping = replace(read_keeping(app.settings), entries=timedelta(days=days))
    return await foresee(app.db, keeping, datetime.now(UTC))


def _bars(feeds: Sequence[FeedSpace], t: Words) -> dict[int, Markup]:
    """By feed the bar of what it takes up, all to one scale."""
    most = max((each.space.bytes for each in feeds), default=0)
    return {each.feed.id: _bar(each, most, t) for each in feeds}


def _bar(each: FeedSpace, most: int, t: Words) -> Markup:
    xml, images = size_in_words(each.space.raw_bytes), size_in_words(each.space.image_bytes)
    parts = [
        Mark(each.space.image_bytes, f"{t('archive.images')}: {images}", "ok"),
        Mark(each.space.raw_bytes, f"{t('archive.answers')}: {xml}", "same"),
    ]
    return stacked(parts, most, f"{each.feed.title}: {xml}, {images}")


routes = [Route("/archive", space)]
