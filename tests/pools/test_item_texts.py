"""Texts of items are made without blocking the event loop."""

import threading

from feedmill.model.pool import PoolKind, PoolOptions
from feedmill.pools.item_texts import ItemTexts
from feedmill.store.pools.items import PoolItemSource


async def test_contents_are_sanitized_off_the_event_loop() -> None:
    threads = set[int]()

    def sanitize(html: str, base_url: str | None) -> str:
        threads.add(threading.get_ident())
        return html

    sources = [PoolItemSource(n, attempts=1, content_html="<p>x</p>") for n in range(3)]
    items = await ItemTexts(sanitize).items(PoolKind.CONTENTS, PoolOptions(), sources)

    assert [item.id for item in items] == [0, 1, 2]
    assert threads.isdisjoint({threading.get_ident()})
