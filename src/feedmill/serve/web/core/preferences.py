"""The user's preferences on every device: time zone, keyboard shortcuts, when entries become read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from zoneinfo import available_timezones

from starlette.requests import Request

from feedmill.library.users.preferences import preferences_of
from feedmill.model.user import Caller

PREFERENCE_VALUES: Mapping[str, tuple[str, ...]] = {"keys": ("on", "off"), "marks": ("open", "scroll", "manual")}
ALIAS_PREFIXES = ("Etc/", "SystemV/", "posix/", "right/", "US/", "Canada/", "Brazil/", "Chile/", "Mexico/")


@dataclass(frozen=True, slots=True)
class UserPreferences:
    """`zone` is empty for that of the browser. `marks`: opened, scrolled past as well, or only by hand."""

    zone: str = ""
    keys: str = "on"
    marks: str = "open"

    def changed(self, wishes: Mapping[str, str]) -> "UserPreferences":
        """With those of the wishes that can be had."""
        fit = {name: wishes[name] for name, values in PREFERENCE_VALUES.items() if wishes.get(name) in values}
        zone = wishes.get("zone", self.zone)
        return replace(self, **fit, zone=zone if zone in time_zones() else "")


def stored_preferences(request: Request) -> Mapping[str, str]:
    """What whoever is signed in prefers; nothing is known of others."""
    caller: Caller | None = getattr(request.state, "caller", None)
    return preferences_of(caller.user) if caller else {}


def user_preferences_of(request: Request) -> UserPreferences:
    return UserPreferences().changed(stored_preferences(request))


@cache
def time_zones() -> tuple[str, ...]:
    """The zones by the names of their places, without other names of the same."""
    return (
        *sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith(ALIAS_PREFIXES)),
        "UTC",
    )
