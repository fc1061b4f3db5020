"""PORT: slots at a host. One request at a time, a gap between two, none while the host is paused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

# How soon to ask again for a turn that somebody holds: when it ends is not known.
BUSY_WAIT = timedelta(milliseconds=100)
NO_WAIT = timedelta(0)


@dataclass(frozen=True, slots=True)
class HostSlotRule:
    """`gap` lies between two starts at one host; a turn that is never finished ends after `hold`."""

    gap: timedelta
    hold: timedelta


class HostSlots(Protocol):
    """Who may ask a host now. A token is whoever asks: it finishes its own turn and no other."""

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        """Takes the turn and says zero, or says how long to wait before asking again."""

    async def finish(self, host: str, token: str) -> None:
        """Lets the next one in, after the gap."""

    async def pause(self, name: str, length: timedelta) -> None:
        """No turn that lists `name` among its pauses is given for that long; a longer pause stands."""

    async def paused(self, names: Sequence[str]) -> Mapping[str, timedelta]:
        """How much longer each of these is paused; those that are not are left out."""
