"""Host slots, locks, presence and message counts in one value."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from feedmill.coordination.host_slots import HostSlots
from feedmill.coordination.locks import BulkLocks
from feedmill.coordination.presence import Presence


@dataclass(frozen=True, slots=True)
class Coordination:
    """What processes share to avoid double work.

    `answers` tells whether the shared service is available. `count_messages` counts the messages that wait in each of
    these queues, and raises `CoordinationUnavailable` when the shared service does not answer.
    """

    host_slots: HostSlots
    locks: BulkLocks
    presence: Presence
    count_messages: Callable[[Sequence[str]], Awaitable[Mapping[str, int]]]
    answers: Callable[[], Awaitable[bool]]
