"""Tools that read entries: lists, searches, single articles, and what is new since a cursor."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from feedmill.library.cursors import from_cursor
from feedmill.library.entries.list_entries import EntryListQuery, EntrySummary
from feedmill.library.entries.list_entries import list_entries as list_page
from feedmill.library.entries.new_entries import cursor_of_now
from feedmill.library.entries.new_entries import new_entries as find_new_entries
from feedmill.library.entries.scopes import find_scope
from feedmill.library.entries.sync_cursor import decode_cursor, encode_cursor
from feedmill.library.search.query_tokens import MOST_CHARACTERS
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.model.entry_lists import EntryOrder, EntryView
from feedmill.model.max_id import MAX_ID
from feedmill.model.search_query import SearchOrder
from feedmill.model.user import READ
from feedmill.serve.mcp.entry_texts import McpEntry, entry_excerpts, entry_heading, read_part
from feedmill.serve.mcp.tool_definitions import ToolArguments, ToolCall, ToolEffect, ToolResult, tool

MOST_ENTRIES = 50
MOST_ARTICLES = 20
MOST_MARKDOWN = 100_000
# Of one article in a list.
LONGEST_LISTED = 6000
MOST_FILES = 20
FURTHEST_START = 5_000_000

McpId = Annotated[int, Field(ge=1, le=MAX_ID)]
McpCursor = Annotated[str | None, Field(default=None, max_length=6000, description="The `next` of the last answer.")]


class EntryListArguments(ToolArguments):
    view: EntryView = Field(EntryView.UNREAD, description="Which entries: unread, all, starred, later or history.")
    feed_id: McpId | None = Field(None, description="Only of this feed.")
    folder_id: McpId | None = Field(None, description="Only of this folder and its subfolders.")
    label_id: McpId | None = Field(None, description="Only with this label.")
    since_hours: int | None = Field(None, ge=1, le=24 * 31, description="Only of the last so many hours.")
    order: EntryOrder = Field(EntryOrder.NEWEST)
    limit: int = Field(20, ge=1, le=MOST_ENTRIES)
    cursor: McpCursor


class EntryTextsArguments(EntryListArguments):
    limit: int = Field(10, ge=1, le=MOST_ARTICLES)
    max_characters: int = Field(30_000, ge=1000, le=MOST_MARKDOWN, description="Of all texts together.")


class SearchArguments(ToolArguments):
    query: str = Field(
        min_length=1,
        max_length=MOST_CHARACTERS,
        description='Words that must occur; "a phrase", -word, OR, in:title:word, feed:ID, folder:"name", is:unread,'
        " is:starred, after:2026-01-31, before:2026-02-28.",
    )
    order: SearchOrder = Field("rank", description="The best matches among the newest, or all by date.")
    limit: int = Field(20, ge=1, le=MOST_ENTRIES)
    cursor: McpCursor


class EntryArguments(ToolArguments):
    entry_id: McpId
    start: int = Field(0, ge=0, le=FURTHEST_START, description="The `next_start` of the last answer, to read on.")
    max_characters: int = Field(20_000, ge=500, le=MOST_MARKDOWN)


class NewEntriesArguments(ToolArguments):
    cursor: str | None = Field(
        None,
        max_length=6000,
        description="That of the last answer. Without one, you get a cursor of now and no entries.",
    )
    limit: int = Field(20, ge=1, le=MOST_ENTRIES)


class EntryListResult(ToolResult):
    entries: list[McpEntry]
    next: str | None = Field(description="The `cursor` of the next page; null on the last.")


class EntryResult(ToolResult):
    entry: McpEntry
    next_start: int | None = Field(description="Where the rest of the text begins; null if this is its end.")


class NewEntriesResult(ToolResult):
    entries: list[McpEntry]
    cursor: str = Field(description="Keep it, and send it next time.")
    more: bool = Field(description="There are more now: call again at once.")


@tool("List entries", READ, ToolEffect.READS)
async def list_entries(call: ToolCall, asked: EntryListArguments) -> EntryListResult:
    """Lists entries of the user's feeds with titles, links and excerpts: unread ones, those of a feed, of a folder or
    with a label, page by page. Use read_entry for the text of one, and search_entries to find words."""
    items, following = await _list_page(call, asked)
    return EntryListResult(entries=_facts(items), next=following, untrusted_text=entry_excerpts(items))


@tool("Read a list", READ, ToolEffect.READS)
async def read_list(call: ToolCall, asked: EntryTextsArguments) -> EntryListResult:
    """Reads the texts of a list of entries as Markdown, cut to a size: for a summary or a briefing of several
    articles. Long articles are cut; read_entry reads one of them further."""
    items, following = await _list_page(call, asked)
    parts: list[str] = []
    room = asked.max_characters
    for entry in items:
        text = await _listed_text(call, entry, min(room, LONGEST_LISTED)) if room > 0 else entry.excerpt
        room -= len(text)
        parts.append(f"{entry_heading(entry)}\n\n{text}".rstrip())
    return EntryListResult(entries=_facts(items), next=following, untrusted_text="\n\n".join(parts) or None)


@tool("Search", READ, ToolEffect.READS)
async def search_entries(call: ToolCall, asked: SearchArguments) -> EntryListResult:
    """Searches all entries of the user's feeds, also old ones, with Feedmill's query language."""
    request = SearchRequest(asked.query, asked.order, asked.cursor, asked.limit)
    found = await run_search(call.app.db, call.user_id, request, call.now)
    return EntryListResult(entries=_facts(found.items), next=found.next, untrusted_text=entry_excerpts(found.items))


@tool("Read an entry", READ, ToolEffect.READS)
async def read_entry(call: ToolCall, asked: EntryArguments) -> EntryResult:
    """Reads the text of one entry as Markdown, a part at a time if it is long. It does not mark the entry as read."""
    (entry, _, enclosures, _), text, is_cut = await read_part(call, asked.entry_id, asked.start, asked.max_characters)
    files = "\n".join(f"- file: {file.type or 'unknown type'}" for file in enclosures[:MOST_FILES])
    parts = [entry_heading(entry), *([files] if files else []), text]
    return EntryResult(
        entry=McpEntry.of(entry),
        next_start=asked.start + len(text) if is_cut else None,
        untrusted_text="\n\n".join(parts),
    )


@tool("What is new", READ, ToolEffect.READS)
async def new_entries(call: ToolCall, asked: NewEntriesArguments) -> NewEntriesResult:
    """Lists the entries that came since a cursor, in the order in which they arrived, each one once. The first call
    has no cursor and gets one."""
    if asked.cursor is None:
        now = await cursor_of_now(call.app.db, call.user_id, call.now)
        return NewEntriesResult(entries=[], cursor=encode_cursor(now), more=False)
    found = await find_new_entries(call.app.db, call.user_id, decode_cursor(asked.cursor), asked.limit, call.now)
    return NewEntriesResult(
        entries=_facts(found.items),
        cursor=encode_cursor(found.cursor),
        more=found.more,
        untrusted_text=entry_excerpts(found.items),
    )


async def _list_page(call: ToolCall, asked: EntryListArguments) -> tuple[list[EntrySummary], str | None]:
    scope = await find_scope(call.app.db, call.user_id, asked.feed_id, asked.folder_id, asked.label_id)
    query = EntryListQuery(
        asked.view,
        scope,
        asked.order,
        from_cursor(asked.cursor) if asked.cursor is not None else None,
        asked.limit,
        call.now - timedelta(hours=asked.since_hours) if asked.since_hours else None,
        stories_once=asked.view in (EntryView.UNREAD, EntryView.ALL),
    )
    page = await list_page(call.app.db, call.user_id, query, call.now)
    return page.items, page.next


async def _listed_text(call: ToolCall, entry: EntrySummary, most: int) -> str:
    _, text, is_cut = await read_part(call, entry.id, 0, most)
    return f"{text}\n[cut: read_entry {entry.id} has the rest]" if is_cut else text


def _facts(entries: list[EntrySummary]) -> list[McpEntry]:
    return [McpEntry.of(entry) for entry in entries]


TOOLS = (list_entries, read_list, search_entries, read_entry, new_entries)
