"""The text of an item: a plain title, or contents as its pool wants them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from feedmill.collect.html import plain_text
from feedmill.coordination.queues import Queued
from feedmill.model.pool import Form, Item, Kind, PoolOptions
from feedmill.store.database import Row

Sanitize = Callable[[str, str | None], str]


@dataclass(frozen=True, slots=True)
class Texts:
    """Makes items of rows. `sanitize` takes HTML and what its addresses are relative to."""

    sanitize: Sanitize

    async def items(self, kind: Kind, options: PoolOptions, rows: Sequence[Row]) -> list[Item]:
        """Many items. Contents are made in threads: a thousand long ones take seconds, half of them outside Python."""

        def made(some: Sequence[Row]) -> list[Item]:
            return [self.item(kind, options, row) for row in some]

        if kind is Kind.TITLES:
            return made(rows)
        # Two, because while one is inside the sanitiser proper the other runs our own part of it.
        half = len(rows) // 2
        first, second = await asyncio.gather(asyncio.to_thread(made, rows[:half]), asyncio.to_thread(made, rows[half:]))
        return first + second

    def item(self, kind: Kind, options: PoolOptions, row: Row) -> Item:
        return Item(row["id"], self._title(row) if kind is Kind.TITLES else self._contents(options, row))

    def _title(self, row: Row) -> str:
        return plain_text(row["title"] or "", None)

    def _contents(self, options: PoolOptions, row: Row) -> str:
        html = row["content_html"] or row["summary"] or ""
        return plain_text(html, None) if options.form is Form.TEXT else self.sanitize(html, row["base_url"])


def as_queued(items: Sequence[Item], options: PoolOptions) -> list[Queued]:
    """Items as they travel: a long text by reference."""
    most = options.most_in_list
    return [
        Queued(item.id, item.text) if len(item.text) <= most else Queued(item.id, "", reference(item.id))
        for item in items
    ]


def reference(item_id: int) -> str:
    """Where a text that is too long can be had."""
    return f"/api/pools/items/{item_id}"
