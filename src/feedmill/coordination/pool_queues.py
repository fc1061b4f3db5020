"""PORT: the lists that programs take pool items from. They may be lost; the database knows each item."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import msgspec

FILL_LOCK_LENGTH = timedelta(seconds=60)


class QueuedItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An item as it stands in a list: `{"id": 12345, "text": "…"}`; `ref` is where a long text can be had."""

    id: int
    text: str
    ref: str = ""


@dataclass(frozen=True, slots=True)
class FillLock:
    """The right to add to a list: its name, and who holds its lock."""

    name: str
    owner: str


class PoolQueues(Protocol):
    """Named lists, first in, first out. When they don't answer, `CoordinationUnavailable` is raised."""

    async def push(self, filling: FillLock, items: Sequence[QueuedItem]) -> bool:
        """Adds all items, if the filling right is still the owner's; never twice, and False when it is lost."""

    async def pop(self, name: str, most: int) -> list[QueuedItem]:
        """Takes up to `most` items out; nobody else ever gets them."""

    async def length(self, name: str) -> int:
        """How many items the list has."""

    async def held(self, name: str) -> set[int]:
        """The ids of all that is in the list."""

    async def told(self, name: str, most: int) -> list[int]:
        """Ids that programs say they have used, the oldest first; they stay until they are forgotten."""

    async def forget_told(self, name: str, count: int) -> None:
        """Drops the oldest so many of what was told."""

    async def drop(self, name: str) -> None:
        """Takes the list away with all that belongs to it."""


def pool_list_name(kind: str, group_id: int) -> str:
    """`titles:pool:7`, from which any program may RPOP."""
    return f"{kind}:pool:{group_id}"


def fill_lock_name(name: str) -> str:
    """The lock of whoever fills the list."""
    return f"{name}:filling"


def used_ids_name(name: str) -> str:
    """Where programs LPUSH the ids that they have used."""
    return f"{name}:used"
