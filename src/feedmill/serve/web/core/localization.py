"""The language, time zone and day of the reader."""

from datetime import UTC, datetime

from starlette.requests import Request

from feedmill.i18n.choose_language import choose_language
from feedmill.i18n.dates import DateFormatter, time_zone
from feedmill.i18n.translator import Translator, translator
from feedmill.serve.web.core.appearance import appearance_of
from feedmill.serve.web.core.preferences import user_preferences_of

ZONE_COOKIE = "feedmill_zone"


def language_of(request: Request) -> str:
    """The language that was chosen for this device or account, else that of the browser."""
    chosen = appearance_of(request).language
    return choose_language(request.headers.get("accept-language", "")) if chosen == "auto" else chosen


def translator_and_dates(request: Request) -> tuple[Translator, DateFormatter]:
    """The translator and date formatter of the user: `t` and `when` in templates."""
    t = translator(language_of(request))
    zone = user_preferences_of(request).zone or request.cookies.get(ZONE_COOKIE, "")
    return t, DateFormatter(t, time_zone(zone), datetime.now(UTC))


def start_of_day(request: Request) -> datetime:
    """The last midnight in the user's time zone."""
    _, when = translator_and_dates(request)
    return when.midnight
