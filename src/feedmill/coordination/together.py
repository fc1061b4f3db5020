"""What the processes of one installation share, in one value."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from feedmill.coordination.locks import LotLocks
from feedmill.coordination.sight import Sight
from feedmill.coordination.turns import Turns


@dataclass(frozen=True, slots=True)
class Coordination:
    """What the processes share to keep out of each other's way. `answers` says whether it is there."""

    turns: Turns
    locks: LotLocks
    sight: Sight
    answers: Callable[[], Awaitable[bool]]
