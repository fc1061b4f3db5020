"""An item that a consumer holds, with the token of its lease."""

from collections.abc import Iterable
from typing import NamedTuple

from feedmill.model.pool import PoolItem


class HeldItem(NamedTuple):
    item: PoolItem
    token: str


def ids_by_token(held: Iterable[HeldItem]) -> list[tuple[str, list[int]]]:
    """The ids of the items for each token."""
    found: dict[str, list[int]] = {}
    for each in held:
        found.setdefault(each.token, []).append(each.item.id)
    return list(found.items())
