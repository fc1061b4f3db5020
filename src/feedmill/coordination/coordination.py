"""Host slots, locks and presence in one value."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from feedmill.coordination.host_slots import HostSlots
from feedmill.coordination.locks import LotLocks
from feedmill.coordination.presence import Presence


@dataclass(frozen=True, slots=True)
class Coordination:
    """What the processes share to keep out of each other's way. `answers` says whether it is there."""

    turns: HostSlots
    locks: LotLocks
    sight: Presence
    answers: Callable[[], Awaitable[bool]]
