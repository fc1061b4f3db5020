"""`/admin/log` and `/admin/settings`: what this process said lately, and how it was started."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.effective import effective
from feedmill.logs import LEVELS, TAIL
from feedmill.serve.web.page import show, the_app
from feedmill.serve.web.scoped import signed_in_admin

ROWS = 200
MOST_DIGITS = 15
LONGEST_TEXT = 200
TONES = {"warning": "warn", "error": "bad", "critical": "bad"}


async def log(request: Request) -> Response:
    await signed_in_admin(request)
    asked = request.query_params
    level = asked.get("level", "")
    text, feed = asked.get("text", "")[:LONGEST_TEXT], asked.get("feed", "").strip()[:LONGEST_TEXT]
    is_wrong = bool(feed) and not (feed.isascii() and feed.isdecimal() and len(feed) <= MOST_DIGITS)
    least = level if level in LEVELS else "info"
    lines = [] if is_wrong else TAIL.latest(least, text, int(feed) if feed else None, ROWS)
    return await show(
        request, "admin_log.html", 422 if is_wrong else 200, active="/admin", lines=lines, level=least, text=text,
        feed=feed, levels=LEVELS, tones=TONES, error="admin.bad_feed_number" if is_wrong else "",
        is_filtered=bool(text or feed or least != "info"),
        is_alone=not the_app(request).settings.redis.get_secret_value(),
    )  # fmt: skip


async def settings(request: Request) -> Response:
    await signed_in_admin(request)
    return await show(request, "admin_settings.html", active="/admin", settings=effective(the_app(request).settings))


routes = [Route("/admin/log", log), Route("/admin/settings", settings)]
