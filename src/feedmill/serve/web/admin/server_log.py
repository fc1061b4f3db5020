"""`/admin/log`: recent log lines."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.logs import LEVELS, LOG_BUFFER
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.render_page import render_page

ROWS = 200
MOST_DIGITS = 15
LONGEST_TEXT = 200
TONES = {"warning": "warn", "error": "bad", "critical": "bad"}


async def show_log(request: Request) -> Response:
    await signed_in_admin(request)
    asked = request.query_params
    level = asked.get("level", "")
    text, feed = asked.get("text", "")[:LONGEST_TEXT], asked.get("feed", "").strip()[:LONGEST_TEXT]
    is_wrong = bool(feed) and not (feed.isascii() and feed.isdecimal() and len(feed) <= MOST_DIGITS)
    least = level if level in LEVELS else "info"
    lines = [] if is_wrong else LOG_BUFFER.latest(least, text, int(feed) if feed else None, ROWS)
    return await render_page(
        request,
        "admin/log.html",
        422 if is_wrong else 200,
        active="/admin",
        lines=lines,
        level=least,
        text=text,
        feed=feed,
        levels=LEVELS,
        tones=TONES,
        error="admin.bad_feed_number" if is_wrong else "",
        is_filtered=bool(text or feed or least != "info"),
        is_alone=not the_app(request).settings.redis.get_secret_value(),
    )


routes = [Route("/admin/log", show_log)]
