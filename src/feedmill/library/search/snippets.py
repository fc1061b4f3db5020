"""Replaces the excerpt of a found entry by the passage that matches."""

import asyncio
import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from feedmill.html.plain_text import plain_text
from feedmill.library.entries.list_entries import EntrySummary
from feedmill.store.database import Database
from feedmill.store.entries.newest_texts import content_beginnings

# Few characters before the match, because lists show only the first lines.
BEFORE, AFTER = 40, 260


async def add_snippets(
    db: Database, found: Sequence[EntrySummary], words: re.Pattern[str] | None
) -> list[EntrySummary]:
    """The entries; the excerpt of each becomes a passage with one of the words, if there is one."""
    if words is None:
        return list(found)
    beginnings = await content_beginnings(
        db, [entry.id for entry in found if not words.search(entry.excerpt[: 2 * BEFORE])]
    )
    passages = await asyncio.to_thread(_passages, beginnings, words)
    return [replace(entry, excerpt=passages.get(entry.id) or entry.excerpt) for entry in found]


def _passages(beginnings: Mapping[int, str], words: re.Pattern[str]) -> dict[int, str | None]:
    return {id: snippet(plain_text(html, None), words) for id, html in beginnings.items()}


def snippet(text: str, words: re.Pattern[str]) -> str | None:
    """The text around the first match, cut between words; None without a match."""
    found = words.search(text)
    if found is None:
        return None
    start, end = max(found.start() - BEFORE, 0), min(found.end() + AFTER, len(text))
    if start:
        gap = text.find(" ", start, found.start())
        start = gap + 1 if gap >= 0 else start
    if end < len(text):
        gap = text.rfind(" ", found.end(), end)
        end = gap if gap >= 0 else end
    return ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")
