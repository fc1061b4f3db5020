"""What a service gets of an article."""

import asyncio
from dataclasses import dataclass

from feedmill.html.plain_text import plain_text
from feedmill.library.entries.list_entries import entry_summaries
from feedmill.store.database import Database
from feedmill.store.entries.newest_texts import newest_texts

MAX_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class SavedArticle:
    """An article; `labels` are the user's, `published` is in ISO 8601, texts are plain."""

    id: int
    url: str
    title: str
    author: str = ""
    feed: str = ""
    published: str = ""
    excerpt: str = ""
    text: str = ""
    labels: tuple[str, ...] = ()


async def read_saved_article(db: Database, user_id: int, entry_id: int) -> SavedArticle | None:
    """The article in its newest version; None if the user can't see it any more, or if it has no link."""
    entries = await entry_summaries(db, user_id, [entry_id])
    if not entries or not entries[0].link:
        return None
    [entry] = entries
    text = (await newest_texts(db, user_id, [entry_id])).get(entry_id)
    html = text.html if text else ""
    return SavedArticle(
        id=entry.id,
        url=entry.link or "",
        title=entry.title,
        author=entry.author or "",
        feed=entry.feed_title or "",
        published="" if entry.undated else entry.published_at,
        excerpt=entry.excerpt,
        text=await asyncio.to_thread(plain_text, html, MAX_TEXT),
        labels=tuple(label.name for label in entry.labels),
    )
