"""Schemas of changes to entries and labels; `api_schemas/entries.py` has what the client reads."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from feedmill.model.entry_marks import MAX_MARKED_AT_ONCE, EntryMarks
from feedmill.model.playback import MAX_SECONDS
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import Id, ShortText, StrictBool, StrictInt, StrictTime

EntryIds = Annotated[list[Id], Field(min_length=1, max_length=MAX_MARKED_AT_ONCE)]
LabelIds = Annotated[list[Id], Field(max_length=100)]


class EntryChanges(RequestBody):
    """Fields that are left out are not changed."""

    read: StrictBool | None = None
    starred: StrictBool | None = None
    later: StrictBool | StrictTime | None = Field(
        default=None, description="Or until when; by default for `later_days`."
    )
    whole_story: StrictBool = Field(
        default=False, description="What is marked as read is read in your other feeds that have it, too."
    )

    def marks(self) -> EntryMarks:
        return EntryMarks(self.read, self.starred, self.later, whole_stories=self.whole_story)


class BulkEntryChanges(EntryChanges):
    ids: EntryIds
    add_labels: LabelIds = Field(default=[])
    remove_labels: LabelIds = Field(default=[])

    def marks(self) -> EntryMarks:
        add, remove = tuple(self.add_labels), tuple(self.remove_labels)
        return EntryMarks(self.read, self.starred, self.later, add, remove, self.whole_story)


class BulkChangeResponse(BaseModel):
    ids: list[int] = Field(description="Ids of entries that now have the requested marks.")
    missing: list[int] = Field(description="Ids that do not exist.")


class MarkAllReadRequest(RequestBody):
    """The scope: a feed, a folder or a label, or `everything`. A request without a scope is refused."""

    feed_id: Id | None = Field(default=None, description="Only of this subscription.")
    folder_id: Id | None = Field(default=None, description="Only of this folder and its subfolders.")
    label_id: Id | None = None
    older_than_days: StrictInt | None = Field(default=None, ge=0, le=36_500)
    up_to: Id | None = Field(default=None, description="The `as_of` of the list that you saw.")
    everything: StrictBool = Field(default=False, description="All your unread entries; not together with a scope.")
    whole_stories: StrictBool = Field(
        default=False, description="What is marked is read in your other feeds that have it, too."
    )

    @model_validator(mode="after")
    def _has_one_scope(self) -> Self:
        is_narrowed = any(given is not None for given in (self.feed_id, self.folder_id, self.label_id))
        if is_narrowed == self.everything:
            raise ValueError("give feed_id, folder_id or label_id, or everything: true")
        return self


class UndoRequest(RequestBody):
    undo: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class PlaybackPositionRequest(RequestBody):
    seconds: Annotated[StrictInt, Field(ge=0, le=MAX_SECONDS)] = Field(description="0 at the start, and after the end.")
    played_at: StrictTime | None = Field(
        default=None, description="By default now. A position that was played later is kept."
    )


class LabelRequest(RequestBody):
    name: ShortText
