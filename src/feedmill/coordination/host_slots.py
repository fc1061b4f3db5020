"""PORT: slots at a host. One request at a time, a gap between two, none while the host is paused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

# How soon to try again when the slot is taken: when it ends is not known.
BUSY_WAIT = timedelta(milliseconds=100)
NO_WAIT = timedelta(0)


@dataclass(frozen=True, slots=True)
class HostSlotRule:
    """`gap` is the time between the starts of two requests to a host; an unfinished slot ends after `hold`."""

    gap: timedelta
    hold: timedelta


class HostSlots(Protocol):
    """Who may send a request to a host. The token identifies the caller, who can finish only its own slot."""

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        """Takes the slot and returns zero, or returns how long to wait before trying again."""

    async def finish(self, host: str, token: str) -> None:
        """Ends the slot; the next can be taken after the gap."""

    async def pause(self, name: str, length: timedelta) -> None:
        """For that long, no slot with `name` among its pauses is given; a longer pause stays."""

    async def paused(self, names: Sequence[str]) -> Mapping[str, timedelta]:
        """The remaining time of each of these pauses; names that are not paused are left out."""
