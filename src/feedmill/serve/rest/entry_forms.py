"""Entries, marks and labels as JSON."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from feedmill.library.difference import Kind
from feedmill.model.reading import MOST_MARKED, Marks
from feedmill.serve.rest.fields import Flag, Id, Line, Moment, Whole

Ids = Annotated[list[Id], Field(min_length=1, max_length=MOST_MARKED)]
LabelIds = Annotated[list[Id], Field(max_length=100)]


class LabelRef(BaseModel):
    id: int
    name: str


class EntryShown(BaseModel):
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
    labels: list[LabelRef]
    revisions: int = Field(description="How often the feed has changed it.")


class EntryPage(BaseModel):
    items: list[EntryShown]
    next: str | None = Field(description="The `cursor` of the next page; none on the last.")
    as_of: int = Field(description="No entry of a larger id was there; `up_to` when marking what you have seen.")


class EnclosureShown(BaseModel):
    url: str
    type: str | None
    length: int | None = Field(description="Bytes, if the feed says so.")
    seconds: float | None


class ArticleShown(EntryShown):
    """An entry to be read."""

    html: str = Field(description="Safe to show; archived images in place.")
    raw_html: str | None = Field(description="As it came, unsafe; only with `raw=true`.")
    full_html: str | None = Field(description="The whole article, once it was fetched; safe to show.")
    version: int = Field(description="Which of its texts this is: 0 the first, `revisions` the newest.")
    minutes: int = Field(description="How long reading takes.")
    categories: list[str]
    enclosures: list[EnclosureShown]
    comments_url: str | None
    previous_id: int | None = Field(description="The entry before this one in the list that was named.")
    next_id: int | None


class VersionShown(BaseModel):
    number: int
    seen_at: datetime
    title: str


class VersionPage(BaseModel):
    items: list[VersionShown]
    next: None = None


class PieceShown(BaseModel):
    kind: Kind
    text: str


class DifferenceShown(BaseModel):
    """Without the `added` pieces it is the old version, without the `removed` ones the new one; plain text."""

    title: list[PieceShown]
    text: list[PieceShown]


class EntryChanges(BaseModel):
    """What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    read: Flag | None = None
    starred: Flag | None = None
    later: Flag | Moment | None = Field(default=None, description="Or until when; else for the setting `later_days`.")

    def marks(self) -> Marks:
        return Marks(self.read, self.starred, self.later)


class ManyChanges(EntryChanges):
    ids: Ids
    add_labels: LabelIds = []
    remove_labels: LabelIds = []

    def marks(self) -> Marks:
        return Marks(self.read, self.starred, self.later, tuple(self.add_labels), tuple(self.remove_labels))


class MarkedShown(BaseModel):
    ids: list[int] = Field(description="Those that are now as wished.")
    missing: list[int] = Field(description="Those that are not there.")


class SweepAsked(BaseModel):
    """All unread entries, unless narrowed down."""

    model_config = ConfigDict(extra="forbid")

    feed_id: Id | None = Field(default=None, description="Of this subscription.")
    folder_id: Id | None = Field(default=None, description="Of this folder and those below it.")
    label_id: Id | None = None
    older_than_days: Whole | None = Field(default=None, ge=0, le=36_500)
    up_to: Id | None = Field(default=None, description="The `as_of` of the list that you looked at.")


class SweptShown(BaseModel):
    marked: int
    undo: str = Field(description="For `POST /entries/undo`, for a day.")


class UndoAsked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    undo: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class LabelAsked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Line


class LabelShown(BaseModel):
    id: int
    name: str
    entries: int = Field(description="How many entries bear it.")


class LabelPage(BaseModel):
    items: list[LabelShown]
    next: None = None
