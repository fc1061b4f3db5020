"""Tools that mark entries: read, starred, later, labels; and a whole list as read, which needs a confirmation."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from feedmill.library.entries.labels import ensure_label, label_names_of_user
from feedmill.library.entries.list_entries import EntryListQuery, count_news, list_entries
from feedmill.library.entries.marks import apply_marks, mark_all_read
from feedmill.library.entries.scopes import find_scope
from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.user import WRITE
from feedmill.serve.mcp.confirm import (
    ConfirmableArguments,
    ConfirmableResult,
    ask_for_confirmation,
    use_confirmation,
)
from feedmill.serve.mcp.entries import McpId
from feedmill.serve.mcp.tool_definitions import ToolArguments, ToolCall, ToolEffect, ToolResult, tool

MOST_MARKED = 100

McpEntryIds = Annotated[list[McpId], Field(min_length=1, max_length=MOST_MARKED)]
LabelName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=190, pattern=r"^[^\x00-\x1f\x7f]*$")
]


class MarkArguments(ToolArguments):
    entry_ids: McpEntryIds
    read: bool | None = Field(None, description="true: read, false: unread; left out: unchanged.")
    starred: bool | None = Field(None, description="true: with a star, false: without; left out: unchanged.")
    later: bool | None = Field(None, description="true: to read later, false: not; left out: unchanged.")


class LabelArguments(ToolArguments):
    entry_ids: McpEntryIds
    label: LabelName = Field(description="The name of the label; a new one is created.")
    remove: bool = Field(False, description="Remove the label instead.")


class MarkListArguments(ConfirmableArguments):
    """A feed, a folder or a label, or `everything`."""

    feed_id: McpId | None = None
    folder_id: McpId | None = Field(None, description="The folder with its subfolders.")
    label_id: McpId | None = None
    everything: bool = Field(False, description="All unread entries of the user.")
    up_to: McpId | None = Field(None, description="With the confirmation: the `up_to` of the first answer.")

    @model_validator(mode="after")
    def _has_one_scope(self) -> Self:
        is_narrowed = any(given is not None for given in (self.feed_id, self.folder_id, self.label_id))
        if is_narrowed == self.everything:
            raise ValueError("give feed_id, folder_id or label_id, or everything: true")
        return self


class MarkResultList(ToolResult):
    marked: list[int] = Field(description="The entries that have the marks now.")
    missing: list[int] = Field(description="Ids that do not exist for this user.")


class MarkListResult(ConfirmableResult):
    up_to: int | None = Field(default=None, description="The newest entry of the list: later ones stay unread.")
    marked: int = 0


@tool("Mark entries", WRITE, ToolEffect.SETS)
async def mark_entries(call: ToolCall, asked: MarkArguments) -> MarkResultList:
    """Marks single entries as read or unread, with or without a star, or to read later."""
    return await _apply(call, asked.entry_ids, EntryMarks(asked.read, asked.starred, asked.later))


@tool("Label entries", WRITE, ToolEffect.SETS)
async def label_entries(call: ToolCall, asked: LabelArguments) -> MarkResultList:
    """Gives single entries a label of the user, or removes it."""
    if asked.remove:
        known = await label_names_of_user(call.app.db, call.user_id)
        marks = EntryMarks(remove_labels=tuple(label.id for label in known if label.name == asked.label))
    else:
        marks = EntryMarks(add_labels=(await ensure_label(call.app.db, call.user_id, asked.label),))
    return await _apply(call, asked.entry_ids, marks)


@tool("Mark a list as read", WRITE, ToolEffect.DESTROYS)
async def mark_list_read(call: ToolCall, asked: MarkListArguments) -> MarkListResult:
    """Marks all unread entries of a feed, a folder, a label or of everything as read. The first call says how many and
    returns a token and `up_to`; ask the user, and call again with both."""
    db = call.app.db
    scope = await find_scope(db, call.user_id, asked.feed_id, asked.folder_id, asked.label_id)
    if asked.confirmation is None:
        return await _preview(call, asked, scope)
    await use_confirmation(call, mark_list_read.name, _target(asked, asked.up_to), asked.confirmation)
    done = await mark_all_read(db, call.user_id, MarkAllRead(scope, up_to=asked.up_to), call.now)
    return MarkListResult(done=True, summary=f"{done.marked} entries are read.", marked=done.marked)


async def _preview(call: ToolCall, asked: MarkListArguments, scope: EntryScope) -> MarkListResult:
    query = EntryListQuery(EntryView.UNREAD, scope, most=1)
    page = await list_entries(call.app.db, call.user_id, query, call.now)
    unread = await count_news(call.app.db, call.user_id, query, 0)
    count = f"{unread} entries" if asked.label_id is None else "all unread entries with the label"
    question = ask_for_confirmation(
        call, mark_list_read.name, _target(asked, page.as_of), f"{count} would be marked as read."
    )
    return MarkListResult(**question.model_dump(), up_to=page.as_of)


def _target(asked: MarkListArguments, up_to: int | None) -> str:
    scopes = ("feed_id", "folder_id", "label_id")
    named = [f"{name}={given}" for name in scopes if (given := getattr(asked, name)) is not None]
    return " ".join([*(named or ["everything"]), f"up_to={up_to}"])


async def _apply(call: ToolCall, ids: list[int], marks: EntryMarks) -> MarkResultList:
    done = await apply_marks(call.app.db, call.user_id, ids, marks, call.now, call.app.settings.later_for)
    return MarkResultList(marked=done.ids, missing=done.missing)


TOOLS = (mark_entries, label_entries, mark_list_read)
