"""`/v1/me`, `/v1/version`, `/v1/users` and what else concerns the account."""

from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from feedmill import __version__
from feedmill.app import App
from feedmill.errors import NotAllowed, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.sync_entries import mark_read_seen_until
from feedmill.model.entry_marks import MarkAllRead
from feedmill.model.user import Caller, User
from feedmill.serve.miniflux.responses import HEADERS, done, json_response, rfc3339

# Clients decide by it which calls they may make.
MINIFLUX_VERSION = "2.2.12"


async def me(request: Request, who: Caller) -> Response:
    return json_response(_user(who.user))


async def version(request: Request, who: Caller) -> Response:
    return json_response(
        {
            "version": MINIFLUX_VERSION,
            "commit": f"feedmill-{__version__}",
            "build_date": "",
            "go_version": "",
            "compiler": "",
            "arch": "",
            "os": "",
        }
    )


async def integrations_status(request: Request, who: Caller) -> Response:
    return json_response({"has_integrations": False})


async def list_users(request: Request, who: Caller) -> Response:
    """The caller alone: an app password has no rights of an admin."""
    return json_response([_user(who.user)])


async def read_user(request: Request, who: Caller) -> Response:
    if request.path_params["user"] not in {str(who.user.id), who.user.name}:
        raise NotFound(Message("error.no_such_user"))
    return json_response(_user(who.user))


async def mark_user_read(request: Request, who: Caller) -> Response:
    if request.path_params["user"] != str(who.user.id):
        raise NotFound(Message("error.no_such_user"))
    app: App = request.app.state.app
    await mark_read_seen_until(app.db, who.user, MarkAllRead(), None, app.tools.clock())
    return done()


async def flush_history(request: Request, who: Caller) -> Response:
    """Accepted, and nothing is deleted: entries end with their retention."""
    return Response(status_code=202, headers=HEADERS)


async def refuse(request: Request, who: Caller) -> Response:
    """What changes accounts and keys is not for apps."""
    raise NotAllowed(Message("error.not_for_apps"))


def _user(user: User) -> dict[str, Any]:
    last: datetime | None = user.last_seen_at
    return {
        "id": user.id,
        "username": user.name,
        "is_admin": False,
        "theme": "system_serif",
        "language": "en_US",
        "timezone": "UTC",
        "entry_sorting_direction": "desc",
        "entry_sorting_order": "published_at",
        "entries_per_page": 100,
        "keyboard_shortcuts": True,
        "show_reading_time": True,
        "entry_swipe": True,
        "gesture_nav": "tap",
        "stylesheet": "",
        "custom_js": "",
        "external_font_hosts": "",
        "google_id": "",
        "openid_connect_id": "",
        "display_mode": "standalone",
        "default_reading_speed": 265,
        "cjk_reading_speed": 500,
        "default_home_page": "unread",
        "categories_sorting_order": "unread_count",
        "mark_read_on_view": True,
        "mark_read_on_media_player_completion": False,
        "media_playback_rate": 1,
        "block_filter_entry_rules": "",
        "keep_filter_entry_rules": "",
        "always_open_external_links": False,
        "last_login_at": rfc3339(last),
    }
