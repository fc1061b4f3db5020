"""The text of a pool item: a plain title, or contents as HTML or plain text."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from feedmill.coordination.pool_queues import QueuedItem
from feedmill.html.plain_text import plain_text
from feedmill.model.pool import ContentFormat, PoolItem, PoolKind, PoolOptions
from feedmill.store.pools.items import PoolItemSource

Sanitize = Callable[[str, str | None], str]


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """Creates the texts of items. `sanitize` takes HTML and its base URL."""

    sanitize: Sanitize

    async def items(self, kind: PoolKind, options: PoolOptions, sources: Sequence[PoolItemSource]) -> list[PoolItem]:
        """Creates many items; contents in threads, because a thousand long ones take seconds, half of it in nh3."""

        def make(some: Sequence[PoolItemSource]) -> list[PoolItem]:
            return [self.item(kind, options, source) for source in some]

        if kind is PoolKind.TITLES:
            return make(sources)
        # Two threads, because while one is in nh3, which releases the GIL, the other runs our own code.
        half = len(sources) // 2
        first, second = await asyncio.gather(
            asyncio.to_thread(make, sources[:half]), asyncio.to_thread(make, sources[half:])
        )
        return first + second

    def item(self, kind: PoolKind, options: PoolOptions, source: PoolItemSource) -> PoolItem:
        return PoolItem(source.id, self._title(source) if kind is PoolKind.TITLES else self._contents(options, source))

    def _title(self, source: PoolItemSource) -> str:
        # A title of a feed is HTML, one of a program is plain text.
        return plain_text(source.title or "", None) if source.sent_text is None else source.sent_text

    def _contents(self, options: PoolOptions, source: PoolItemSource) -> str:
        html = source.sent_text or source.content_html or source.summary or ""
        return plain_text(html, None) if options.form is ContentFormat.TEXT else self.sanitize(html, source.base_url)


def to_queued_items(items: Sequence[PoolItem], options: PoolOptions) -> list[QueuedItem]:
    """Items for the Redis list; a long text is replaced by a reference."""
    most = options.most_in_list
    return [
        QueuedItem(item.id, item.text) if len(item.text) <= most else QueuedItem(item.id, "", item_text_url(item.id))
        for item in items
    ]


def item_text_url(item_id: int) -> str:
    """The API path of a text that is too long for the list."""
    return f"/api/pools/items/{item_id}"
