"""Schemas of entries, revisions, labels and changes to entries."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from feedmill.library.entries.text_diff import DiffKind
from feedmill.model.entry_lists import MAX_MARKED_AT_ONCE, EntryMarks
from feedmill.serve.rest.core.fields import Id, RequestBody, ShortText, StrictBool, StrictInt, StrictTime

EntryIds = Annotated[list[Id], Field(min_length=1, max_length=MAX_MARKED_AT_ONCE)]
LabelIds = Annotated[list[Id], Field(max_length=100)]


class EntryLabelResponse(BaseModel):
    id: int
    name: str


class EntryResponse(BaseModel):
    """An entry as lists show it, with what you did with it."""

    id: int
    subscription_id: int | None = Field(description="None when you no longer subscribe to its feed.")
    feed_title: str | None
    title: str = Field(description="Plain text.")
    link: str | None
    author: str | None
    excerpt: str = Field(description="The beginning of its summary, or else of its text; plain.")
    image_url: str | None
    language: str | None
    published_at: datetime | None
    sort_at: datetime = Field(description="Where it stands in lists: its date, or when it was first seen.")
    unread: bool
    read_at: datetime | None = Field(description="When you read it, unless it was marked with many others.")
    starred: bool
    later: bool
    later_until: datetime | None
    labels: list[EntryLabelResponse]
    revisions: int = Field(description="How often the feed has changed it.")


class EntryPage(BaseModel):
    items: list[EntryResponse]
    next: str | None = Field(description="The `cursor` of the next page; none on the last.")
    as_of: int = Field(description="No entry of a larger id was there; `up_to` when marking what you have seen.")


class EnclosureResponse(BaseModel):
    url: str
    type: str | None
    length: int | None = Field(description="Bytes, if the feed says so.")
    seconds: float | None


class ArticleResponse(EntryResponse):
    """An entry to be read."""

    html: str = Field(description="Safe to show; archived images in place.")
    raw_html: str | None = Field(description="As it came, unsafe; only with `raw=true`.")
    full_html: str | None = Field(description="The whole article, once it was fetched; safe to show.")
    version: int = Field(description="Which of its texts this is: 0 the first, `revisions` the newest.")
    minutes: int = Field(description="How long reading takes.")
    categories: list[str]
    enclosures: list[EnclosureResponse]
    comments_url: str | None
    previous_id: int | None = Field(description="The entry before this one in the list that was named.")
    next_id: int | None


class RevisionResponse(BaseModel):
    number: int
    seen_at: datetime
    title: str


class RevisionPage(BaseModel):
    items: list[RevisionResponse]
    next: None = None


class DiffPieceResponse(BaseModel):
    kind: DiffKind
    text: str


class DiffResponse(BaseModel):
    """Without the `added` pieces it is the old version, without the `removed` ones the new one; plain text."""

    title: list[DiffPieceResponse]
    text: list[DiffPieceResponse]


class EntryChanges(RequestBody):
    """What is left out stays as it is."""

    read: StrictBool | None = None
    starred: StrictBool | None = None
    later: StrictBool | StrictTime | None = Field(
        default=None, description="Or until when; else for the setting `later_days`."
    )

    def marks(self) -> EntryMarks:
        return EntryMarks(self.read, self.starred, self.later)


class BulkEntryChanges(EntryChanges):
    ids: EntryIds
    add_labels: LabelIds = Field(default=[])
    remove_labels: LabelIds = Field(default=[])

    def marks(self) -> EntryMarks:
        return EntryMarks(self.read, self.starred, self.later, tuple(self.add_labels), tuple(self.remove_labels))


class BulkChangeResponse(BaseModel):
    ids: list[int] = Field(description="Those that are now as wished.")
    missing: list[int] = Field(description="Those that are not there.")


class MarkAllReadRequest(RequestBody):
    """Names a feed, a folder or a label, or says `everything`: no scope is never taken for all of it."""

    feed_id: Id | None = Field(default=None, description="Of this subscription.")
    folder_id: Id | None = Field(default=None, description="Of this folder and those below it.")
    label_id: Id | None = None
    older_than_days: StrictInt | None = Field(default=None, ge=0, le=36_500)
    up_to: Id | None = Field(default=None, description="The `as_of` of the list that you looked at.")
    everything: StrictBool = Field(default=False, description="All your unread entries; not together with a scope.")

    @model_validator(mode="after")
    def _has_one_scope(self) -> Self:
        is_narrowed = any(given is not None for given in (self.feed_id, self.folder_id, self.label_id))
        if is_narrowed == self.everything:
            raise ValueError("name feed_id, folder_id or label_id, or say everything: true")
        return self


class MarkAllReadResponse(BaseModel):
    marked: int
    undo: str = Field(description="For `POST /entries/undo`, for a day.")


class UndoRequest(RequestBody):
    undo: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class LabelRequest(RequestBody):
    name: ShortText


class LabelResponse(BaseModel):
    id: int
    name: str
    entries: int = Field(description="How many entries bear it.")


class LabelPage(BaseModel):
    items: list[LabelResponse]
    next: None = None
