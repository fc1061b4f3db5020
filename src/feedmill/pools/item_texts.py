"""The text of a pool item: a plain title, or contents as HTML or plain text."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from feedmill.coordination.pool_queues import QueuedItem
from feedmill.html.images import replace_images
from feedmill.html.plain_text import plain_text
from feedmill.model.pool import ContentFormat, PoolItem, PoolKind, PoolOptions
from feedmill.store.pools.items import PoolItemSource

Sanitize = Callable[[str, str | None], str]
PublicImages = Callable[[Sequence[int]], Awaitable[Mapping[int, Mapping[str, str]]]]
NO_IMAGES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """Creates the texts of items. `sanitize` takes HTML and its base URL.

    `public_images` finds by entry the public URLs of archived images; without it images keep their own URLs.
    """

    sanitize: Sanitize
    public_images: PublicImages | None = None

    async def items(self, kind: PoolKind, options: PoolOptions, sources: Sequence[PoolItemSource]) -> list[PoolItem]:
        """Creates many items; contents in threads, because a thousand long ones take seconds, half of it in nh3."""
        images = await self._images(kind, options, sources)

        def make(some: Sequence[PoolItemSource]) -> list[PoolItem]:
            return [self._item(kind, options, source, images.get(source.entry_id or 0, NO_IMAGES)) for source in some]

        if kind is PoolKind.TITLES:
            return make(sources)
        # Two threads, because while one is in nh3, which releases the GIL, the other runs our own code.
        half = len(sources) // 2
        first, second = await asyncio.gather(
            asyncio.to_thread(make, sources[:half]), asyncio.to_thread(make, sources[half:])
        )
        return first + second

    async def _images(
        self, kind: PoolKind, options: PoolOptions, sources: Sequence[PoolItemSource]
    ) -> Mapping[int, Mapping[str, str]]:
        """By entry, the public URLs of its archived images by their original URLs."""
        ids = [source.entry_id for source in sources if source.entry_id is not None]
        has_images = kind is PoolKind.CONTENTS and options.form is ContentFormat.HTML
        if self.public_images is None or not has_images or not ids:
            return {}
        return await self.public_images(ids)

    def _item(
        self, kind: PoolKind, options: PoolOptions, source: PoolItemSource, images: Mapping[str, str]
    ) -> PoolItem:
        text = self._title(source) if kind is PoolKind.TITLES else self._contents(options, source, images)
        return PoolItem(source.id, text)

    def _title(self, source: PoolItemSource) -> str:
        # A title of a feed is HTML, one of a program is plain text.
        return plain_text(source.title or "", None) if source.sent_text is None else source.sent_text

    def _contents(self, options: PoolOptions, source: PoolItemSource, images: Mapping[str, str]) -> str:
        html = source.sent_text or source.content_html or source.summary or ""
        if options.form is ContentFormat.TEXT:
            return plain_text(html, None)
        return self.sanitize(replace_images(html, source.base_url, images) if images else html, source.base_url)


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
