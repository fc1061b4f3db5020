"""The user's preferences on every device: time zone, keyboard shortcuts, when entries become read, stories."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from zoneinfo import available_timezones

from starlette.requests import Request

from feedmill.library.users.preferences import preferences_of
from feedmill.model.user import Caller

PREFERENCE_VALUES: Mapping[str, tuple[str, ...]] = {
    "keys": ("on", "off"),
    "marks": ("open", "scroll", "manual"),
    "stories": ("once", "each"),
}
ALIAS_PREFIXES = ("Etc/", "SystemV/", "posix/", "right/", "US/", "Canada/", "Brazil/", "Chile/", "Mexico/")


@dataclass(frozen=True, slots=True)
class UserPreferences:
    """`zone` is empty for the browser's. `marks`: whether entries become read when opened, scrolled past or by hand.

    `stories`: whether an article of several feeds is shown once, or in each (`library/users/preferences.py`).
    """

    zone: str = ""
    keys: str = "on"
    marks: str = "open"
    stories: str = "once"

    def changed(self, sent: Mapping[str, str]) -> "UserPreferences":
        """A copy with those of the given values that are valid."""
        fit = {name: sent[name] for name, values in PREFERENCE_VALUES.items() if sent.get(name) in values}
        zone = sent.get("zone", self.zone)
        return replace(self, **fit, zone=zone if zone in time_zones() else "")


def stored_preferences(request: Request) -> Mapping[str, str]:
    """The preferences of the signed-in user; empty if nobody is signed in."""
    caller: Caller | None = getattr(request.state, "caller", None)
    return preferences_of(caller.user) if caller else {}


def shows_stories_once(request: Request) -> bool:
    """Whether the signed-in user sees an article of several feeds once, and reads it once."""
    return user_preferences_of(request).stories == "once"


def user_preferences_of(request: Request) -> UserPreferences:
    return UserPreferences().changed(stored_preferences(request))


@cache
def time_zones() -> tuple[str, ...]:
    """The names of time zones, without aliases."""
    return (
        *sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith(ALIAS_PREFIXES)),
        "UTC",
    )
