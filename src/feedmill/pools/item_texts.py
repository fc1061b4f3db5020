"""The text of a pool item: a plain title, or contents as HTML or plain text."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from feedmill.coordination.pool_queues import QueuedItem
from feedmill.html.plain_text import plain_text
from feedmill.model.pool import ContentFormat, PoolItem, PoolKind, PoolOptions
from feedmill.store.database import Row

Sanitize = Callable[[str, str | None], str]


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """Makes items of rows. `sanitize` takes HTML and what its addresses are relative to."""

    sanitize: Sanitize

    async def items(self, kind: PoolKind, options: PoolOptions, rows: Sequence[Row]) -> list[PoolItem]:
        """Many items. Contents are made in threads: a thousand long ones take seconds, half of them outside Python."""

        def made(some: Sequence[Row]) -> list[PoolItem]:
            return [self.item(kind, options, row) for row in some]

        if kind is PoolKind.TITLES:
            return made(rows)
        # Two, because while one is inside the sanitiser proper the other runs our own part of it.
        half = len(rows) // 2
        first, second = await asyncio.gather(asyncio.to_thread(made, rows[:half]), asyncio.to_thread(made, rows[half:]))
        return first + second

    def item(self, kind: PoolKind, options: PoolOptions, row: Row) -> PoolItem:
        return PoolItem(row["id"], self._title(row) if kind is PoolKind.TITLES else self._contents(options, row))

    def _title(self, row: Row) -> str:
        return plain_text(row["title"] or "", None)

    def _contents(self, options: PoolOptions, row: Row) -> str:
        html = row["content_html"] or row["summary"] or ""
        return plain_text(html, None) if options.form is ContentFormat.TEXT else self.sanitize(html, row["base_url"])


def to_queued_items(items: Sequence[PoolItem], options: PoolOptions) -> list[QueuedItem]:
    """Items as they travel: a long text by reference."""
    most = options.most_in_list
    return [
        QueuedItem(item.id, item.text) if len(item.text) <= most else QueuedItem(item.id, "", item_text_url(item.id))
        for item in items
    ]


def item_text_url(item_id: int) -> str:
    """Where a text that is too long can be had."""
    return f"/api/pools/items/{item_id}"
