"""PORT: the lists from which programs take pool items. They may be lost; the database has every item."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import msgspec

FILL_LOCK_LENGTH = timedelta(seconds=60)


class QueuedItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An item in a list: `{"id": 12345, "text": "…"}`; `ref` is where a long text can be fetched."""

    id: int
    text: str
    ref: str = ""


@dataclass(frozen=True, slots=True)
class FillLock:
    """The right to add to a list: the name of the list, and the owner of its lock.

    `life` is the token of the list that the database knows; a list that was lost since has another one, or none.
    """

    name: str
    owner: str
    life: str = ""


@dataclass(frozen=True, slots=True)
class ListObservation:
    """What a list is like: its token, its length, and how many items others than we have taken from it."""

    life: str | None
    length: int
    taken_by_others: int


class PoolQueues(Protocol):
    """Named lists, first in, first out. Raises `CoordinationUnavailable` when they don't answer."""

    async def push(self, filling: FillLock, items: Sequence[QueuedItem]) -> bool:
        """Adds all items once if the lock is still the owner's and the list has its `life`; otherwise False."""

    async def pop(self, name: str, limit: int) -> list[QueuedItem]:
        """Removes and returns up to `limit` items; nobody else gets them."""

    async def put_back(self, name: str, items: Sequence[QueuedItem]) -> None:
        """Returns popped items to the end from which they were popped."""

    async def start(self, filling: FillLock) -> bool:
        """Gives the list the `life` of the lock, if the lock is still the owner's; False when it is lost."""

    async def observe(self, name: str) -> ListObservation:
        """The list's token and length, and the number of items that vanished without `pop`."""

    async def forget_taken_by_others(self, name: str, count: int) -> None:
        """Counts `count` items that others have taken no longer."""

    async def length(self, name: str) -> int:
        """The number of items in the list."""

    async def queued_ids(self, name: str) -> set[int]:
        """The ids of all items in the list."""

    async def reported_used(self, name: str, limit: int) -> list[int]:
        """Ids that programs reported as used, oldest first; they stay until `forget_used` removes them."""

    async def forget_used(self, name: str, count: int) -> None:
        """Removes the `count` oldest reported ids."""

    async def drop(self, name: str) -> None:
        """Deletes the list, its state and its reported ids."""


def pool_list_name(kind: str, group_id: int) -> str:
    """`titles:pool:7`, from which any program may RPOP."""
    return f"{kind}:pool:{group_id}"


def fill_lock_name(name: str) -> str:
    """The lock of whoever fills the list."""
    return f"{name}:filling"


def list_state_name(name: str) -> str:
    """A hash with the token of the list and the length that it has unless others take from it."""
    return f"{name}:state"


def used_ids_name(name: str) -> str:
    """Where programs LPUSH the ids that they have used."""
    return f"{name}:used"
