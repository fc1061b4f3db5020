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
    feed_id: int = Field(description="The feed, which has the same id for all its subscribers.")
    guid: str = Field(description="Its identity within the feed.")
    subscription_id: int | None = Field(description="null if you are no longer subscribed to its feed.")
    feed_title: str | None
    title: str = Field(description="Plain text.")
    link: str | None = Field(description="Without tracking parameters such as `utm_source`.")
    author: str | None
    excerpt: str = Field(description="The beginning of its summary, or else of its text, as plain text.")
    summary: str | None = Field(
        description="The summary that the feed gives beside the text, as plain text of at most 1,000 characters."
    )
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
    created_at: datetime = Field(description="When it was first seen.")
    unread: bool
    read_at: datetime | None = Field(description="When you read it, unless it was marked with many others.")
    starred: bool
    later: bool
    later_until: datetime | None
    raised: bool = Field(False, description="A filter of yours raised it; see `raised` of `GET /entries`.")
    labels: list[EntryLabelResponse]
    revisions: int = Field(description="The number of revisions.")


class SearchResultPage(ResponseBody):
    items: list[EntryResponse]
    next: str | None = Field(description="The `cursor` of the next page; none on the last.")


class EntryPage(SearchResultPage):
    as_of: int = Field(description="The largest entry id at that time; send it as `up_to` to mark what you have seen.")
    raised_count: int = Field(
        0, description="So many of the items, the first ones, come first because they are raised."
    )


class NewEntryPage(ResponseBody):
    """Entries that came since a cursor, in the order in which they were stored. Keep them by id: one may come twice."""

    items: list[EntryResponse]
    since: str = Field(description="The cursor to ask with next time; at once if there are `more`.")
    more: bool


class EntryIdPage(ResponseBody):
    """Ids in ascending order."""

    ids: list[int]
    next: str | None = Field(description="The `cursor` of the next page; none on the last.")
    since: str = Field(description="The cursor for what comes and changes after this; keep that of the first page.")


class EntryTextResponse(EntryResponse):
    """An entry with its newest text."""

    html: str = Field(description="Sanitized, with archived images.")


class EntryTextPage(ResponseBody):
    items: list[EntryTextResponse]
    next: None = None


class EntryMarksResponse(ResponseBody):
    """Your marks of an entry, as they are now."""

    id: int
    unread: bool
    read_at: datetime | None = Field(description="When you read it, unless it was marked with many others.")
    starred: bool
    later: bool
    later_until: datetime | None
    labels: list[EntryLabelResponse]


class EntryChangePage(ResponseBody):
    """What changed since a cursor. Some of it may come twice."""

    items: list[EntryMarksResponse] = Field(description="Entries whose marks or labels changed one by one.")
    gone: list[int] = Field(description="Entries that were purged, or that you may no longer see.")
    subscription_ids: list[int] = Field(
        description="All your subscriptions. Entries of others are gone, except starred, read-later and labelled ones."
    )
    unread_changed: bool = Field(
        description="Many entries became read or unread at once: read `GET /entries/ids?view=unread` anew."
    )
    since: str = Field(description="The cursor to ask with next time; at once if there are `more`.")
    more: bool


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


class StoryCopyResponse(ResponseBody):
    """The same article in another of your feeds."""

    id: int
    subscription_id: int
    feed_title: str | None
    title: str | None
    unread: bool


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
    also_in: list[StoryCopyResponse] = Field(
        default=[], description="The same article in other feeds of yours that are not left out of this."
    )
    link_as_sent: str | None = Field(
        None, description="The link with the tracking parameters that `link` lacks; null if there are none."
    )
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
