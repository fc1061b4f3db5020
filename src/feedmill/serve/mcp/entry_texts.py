"""Writes entries as Markdown: the texts that stand in the marked block of a result."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from pydantic import BaseModel, Field

from feedmill.html.markdown import html_to_markdown
from feedmill.html.plain_text import cut_text
from feedmill.library.entries.article_beginning import ArticleBeginning, read_beginning
from feedmill.library.entries.list_entries import EntrySummary
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.serve.mcp.redact_urls import redact_urls
from feedmill.serve.mcp.tool_definitions import ToolCall

LONGEST_TITLE = 300
LONGEST_NAME = 120
LONGEST_LINK = 1000
# How much HTML is read for a text: usually twice as much as the text is long.
SMALLEST_WINDOW = 20_000
HTML_OF_MARKDOWN = 4


class McpEntry(BaseModel):
    """An entry without its texts, which are in the marked block under its id."""

    id: int
    feed_id: int | None = Field(description="Your subscription; null if you are no longer subscribed.")
    published_at: datetime
    unread: bool
    starred: bool
    later: bool
    labels: list[str] = Field(description="Names of your labels.")

    @classmethod
    def of(cls, entry: EntrySummary) -> "McpEntry":
        return cls(
            id=entry.id,
            feed_id=entry.subscription_id,
            published_at=datetime.fromisoformat(entry.published_at),
            unread=entry.unread,
            starred=entry.starred,
            later=entry.later,
            labels=[label.name for label in entry.labels],
        )


def entry_heading(entry: EntrySummary) -> str:
    """The id, title, feed, author and link of an entry."""
    names = [name for name in (entry.feed_title, entry.author) if name]
    lines = [
        f"## Entry {entry.id}: {cut_text(entry.title, LONGEST_TITLE)}",
        " · ".join([*(cut_text(name, LONGEST_NAME) for name in names), entry.published_at]),
    ]
    if entry.link and len(entry.link) <= LONGEST_LINK:
        lines.append(redact_urls(entry.link))
    return "\n".join(lines)


def entry_excerpts(entries: Iterable[EntrySummary]) -> str | None:
    """A list of entries with the beginnings of their texts; None if there are none."""
    parts = [f"{entry_heading(entry)}\n\n{entry.excerpt}".rstrip() for entry in entries]
    return "\n\n".join(parts) or None


class ArticlePart(NamedTuple):
    """A part of an article as Markdown; `is_cut`: the article goes on after it."""

    beginning: ArticleBeginning
    text: str
    is_cut: bool


async def read_part(call: ToolCall, entry_id: int, start: int, most: int) -> ArticlePart:
    """The text of an article from `start` on, up to `most` characters. What comes after costs nothing."""
    window = SMALLEST_WINDOW + HTML_OF_MARKDOWN * (start + most)
    while True:
        beginning = await read_beginning(call.app.db, call.user_id, entry_id, window)
        html = beginning.html
        whole = await run_in_thread_if_large(len(html), html_to_markdown, html, start + most, redact_urls)
        if whole.is_cut or not beginning.is_cut:
            return ArticlePart(beginning, whole.text[start:], whole.is_cut)
        # Hardly any text in much markup.
        window *= 4
