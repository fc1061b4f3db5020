"""`/archive`: storage usage of a user's feeds, and a forecast of retention for administrators."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.archive.purge import PurgeCounts, preview_purge, retention_periods
from feedmill.i18n.byte_sizes import format_bytes
from feedmill.i18n.translator import Translator
from feedmill.library.archive.storage_usage import FeedStorageUsage, forecast_storage, storage_usage_by_feed
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.plots import PlotMark, stacked_bar
from feedmill.serve.web.core.render_page import render_page

SHOWN_FEEDS = 200
LONGEST_DAYS = 36_500


async def show_storage_usage(request: Request) -> Response:
    caller = await signed_in(request)
    app = the_app(request)
    feeds = await storage_usage_by_feed(app.db, caller.user.id)
    days = _days(request.query_params.get("days", ""))
    would_go = await _retention_forecast(request, days) if caller.user.is_admin and days is not None else None
    raw_keep = timedelta(days=app.settings.raw_days)
    return await render_page(
        request,
        "archive/storage_usage.html",
        feeds=feeds[:SHOWN_FEEDS],
        total=len(feeds),
        settings=app.settings,
        days=days,
        would_go=would_go,
        bars=_bars(feeds[:SHOWN_FEEDS], translator_and_dates(request)[0]),
        ahead=await forecast_storage(app.db, caller.user.id, feeds, raw_keep, datetime.now(UTC)),
        raw_bytes=sum(each.space.raw_bytes for each in feeds),
        image_bytes=sum(each.space.image_bytes for each in feeds),
    )


def _days(asked: str) -> int | None:
    return min(int(asked), LONGEST_DAYS) if asked.isdecimal() and len(asked) < 7 else None


async def _retention_forecast(request: Request, days: int) -> PurgeCounts:
    """What a purge would delete now if entries were kept for this many days."""
    app = the_app(request)
    keeping = replace(retention_periods(app.settings), entries=timedelta(days=days))
    return await preview_purge(app.db, keeping, datetime.now(UTC))


def _bars(feeds: Sequence[FeedStorageUsage], t: Translator) -> dict[int, Markup]:
    """A bar of the storage usage of each feed by id, all to the same scale."""
    most = max((each.space.bytes for each in feeds), default=0)
    return {each.feed.id: _bar(each, most, t) for each in feeds}


def _bar(each: FeedStorageUsage, most: int, t: Translator) -> Markup:
    xml, images = format_bytes(each.space.raw_bytes), format_bytes(each.space.image_bytes)
    parts = [
        PlotMark(each.space.image_bytes, f"{t('archive.images')}: {images}", "ok"),
        PlotMark(each.space.raw_bytes, f"{t('archive.raw_bodies')}: {xml}", "same"),
    ]
    return stacked_bar(parts, most, f"{each.feed.title}: {xml}, {images}")


routes = [Route("/archive", show_storage_usage)]
