"""What a person is used to on every device: the zone of times, keys, and when articles count as read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from zoneinfo import available_timezones

from starlette.requests import Request

from feedmill.library.preferences import preferences_of
from feedmill.model.account import Caller

CHOICES: Mapping[str, tuple[str, ...]] = {"keys": ("on", "off"), "marks": ("open", "scroll", "manual")}
OTHER_NAMES = ("Etc/", "SystemV/", "posix/", "right/", "US/", "Canada/", "Brazil/", "Chile/", "Mexico/")


@dataclass(frozen=True, slots=True)
class Habits:
    """`zone` is empty for that of the browser. `marks`: opened, scrolled past as well, or only by hand."""

    zone: str = ""
    keys: str = "on"
    marks: str = "open"

    def changed(self, wishes: Mapping[str, str]) -> "Habits":
        """With those of the wishes that can be had."""
        fit = {name: wishes[name] for name, values in CHOICES.items() if wishes.get(name) in values}
        zone = wishes.get("zone", self.zone)
        return replace(self, **fit, zone=zone if zone in zones() else "")


def preferred(request: Request) -> Mapping[str, str]:
    """What whoever is signed in prefers; nothing is known of others."""
    caller: Caller | None = getattr(request.state, "caller", None)
    return preferences_of(caller.user) if caller else {}


def habits_of(request: Request) -> Habits:
    return Habits().changed(preferred(request))


@cache
def zones() -> tuple[str, ...]:
    """The zones by the names of their places, without other names of the same."""
    return (*sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith(OTHER_NAMES)), "UTC")
