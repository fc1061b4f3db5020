"""Host slots, locks and presence in one value."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from feedmill.coordination.host_slots import HostSlots
from feedmill.coordination.locks import LotLocks
from feedmill.coordination.presence import Presence


@dataclass(frozen=True, slots=True)
class Coordination:
    """What processes share to avoid double work. `answers` tells whether the shared service is available."""

    host_slots: HostSlots
    locks: LotLocks
    presence: Presence
    answers: Callable[[], Awaitable[bool]]
