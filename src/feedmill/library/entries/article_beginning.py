"""Reads the beginning of an entry's text, for programs that show a part of a long article: the rest costs nothing."""

from typing import NamedTuple

from msgspec import structs

from feedmill.html.sanitize import render_article_html
from feedmill.library.entries.article import find_entry, find_revision
from feedmill.library.entries.list_entries import EntrySummary, entry_summaries, one_line, shown_link
from feedmill.model.parsed_feed import Enclosure
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database


class ArticleBeginning(NamedTuple):
    """An entry in its newest version with safe HTML: its full text if that was fetched. `is_cut`: there is more."""

    entry: EntrySummary
    html: str
    enclosures: tuple[Enclosure, ...]
    is_cut: bool


async def read_beginning(db: Database, user_id: int, entry_id: int, most: int) -> ArticleBeginning:
    """The entry with the first `most` characters of its HTML; `NotFound` if the user may not see it.

    It is cut before it is sanitized. Images keep their own addresses.
    """
    stored = await find_entry(db, user_id, entry_id)
    text = await find_revision(db, entry_id, stored.revision_count)
    [entry] = await entry_summaries(db, user_id, [entry_id])
    html, base_url = (stored.full_html, stored.full_url) if stored.full_html else (text.html, stored.base_url)
    beginning = html[:most]
    safe = await run_in_thread_if_large(len(beginning), render_article_html, beginning, base_url, {}, None)
    newest = structs.replace(entry, title=one_line(text.title), link=shown_link(text.link), author=text.author)
    return ArticleBeginning(newest, safe, tuple(stored.enclosures), len(html) > most)
