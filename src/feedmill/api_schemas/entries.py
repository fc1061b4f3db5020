"""Responses of entries, articles, searches and labels."""

from datetime import datetime

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody


class EntryLabelResponse(ResponseBody):
    id: int
    name: str


class EntryResponse(ResponseBody):
    """An entry as lists show it, with your marks."""

    id: int
    subscription_id: int | None = Field(description="null if you are no longer subscribed to its feed.")
    feed_title: str | None
    title: str = Field(description="Plain text.")
    link: str | None
    author: str | None
    excerpt: str = Field(description="The beginning of its summary, or else of its text, as plain text.")
    image_url: str | None
    language: str | None
    published_at: datetime | None
    undated: bool = Field(
        False, description="The feed gives no date that can be read: `published_at` is when it was first seen."
    )
    sort_at: datetime = Field(
        description="Its position in lists: its date, or when it was first seen if that is earlier. "
        "In 1899, below all dates, if it has no date and came with the first fetch of its feed."
    )
    unread: bool
    read_at: datetime | None = Field(description="When you read it, unless it was marked with many others.")
    starred: bool
    later: bool
    later_until: datetime | None
    labels: list[EntryLabelResponse]
    revisions: int = Field(description="The number of revisions.")


class SearchResultPage(ResponseBody):
    items: list[EntryResponse]
    next: str | None = Field(description="The `cursor` of the next page; none on the last.")


class EntryPage(SearchResultPage):
    as_of: int = Field(description="The largest entry id at that time; send it as `up_to` to mark what you have seen.")


class ChapterResponse(ResponseBody):
    start: float = Field(description="In seconds.")
    title: str
    url: str | None


class PlaybackPositionResponse(ResponseBody):
    """How far you have played a file, on any device."""

    seconds: int = Field(description="0 at the start, and after the end.")
    played_at: datetime


class EnclosureResponse(ResponseBody):
    url: str
    type: str | None
    length: int | None = Field(description="Bytes, if the feed says so.")
    seconds: float | None = Field(description="The duration, if the feed says so.")
    chapters: list[ChapterResponse]
    position: PlaybackPositionResponse | None = Field(description="null if you have not played it.")


class ArticleResponse(EntryResponse):
    """An entry with its text."""

    html: str = Field(description="Sanitized, with archived images.")
    raw_html: str | None = Field(description="The original HTML, not sanitized; only with `raw=true`.")
    full_html: str | None = Field(description="The full text, once it was fetched; sanitized.")
    version: int = Field(description="The number of this version: 0 is the first, `revisions` the newest.")
    minutes: int = Field(description="The reading time; 0 if there is nothing to read.")
    categories: list[str]
    enclosures: list[EnclosureResponse]
    comments_url: str | None
    previous_id: int | None = Field(description="The previous entry in the list of the query.")
    next_id: int | None


class MarkAllReadResponse(ResponseBody):
    marked: int
    undo: str = Field(description="For `POST /entries/undo`, for a day.")


class LabelResponse(ResponseBody):
    id: int
    name: str
    entries: int = Field(description="The number of entries with this label.")


class LabelPage(ResponseBody):
    items: list[LabelResponse]
    next: None = None
