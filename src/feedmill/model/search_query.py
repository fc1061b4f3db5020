"""A search query as a tree of conditions, and a saved search."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from msgspec import Struct

SearchField = Literal["any", "title", "author", "text"]
RegexField = Literal["any", "title", "author", "text", "url"]
EntryStateName = Literal["unread", "read", "starred", "later", "archived"]
MediaName = Literal["image", "audio", "video", "enclosure"]
SearchOrder = Literal["rank", "date"]


@dataclass(frozen=True, slots=True)
class TextMatch:
    """Consecutive words, as the tokenizer of `store/search` splits them; `prefix`: the last one is a prefix."""

    words: tuple[str, ...]
    scope: SearchField = "any"
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class RegexMatch:
    """A regular expression in the syntax of RE2. Only filters have it: no index can answer it."""

    pattern: str
    scope: RegexField = "any"


@dataclass(frozen=True, slots=True)
class HasState:
    name: EntryStateName


@dataclass(frozen=True, slots=True)
class HasMedia:
    name: MediaName


@dataclass(frozen=True, slots=True)
class DateRange:
    """From `since` to just before `until`; None leaves that end open."""

    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class InLanguage:
    """`en` includes all variants of English."""

    code: str


@dataclass(frozen=True, slots=True)
class InFeeds:
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HasLabel:
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: "SearchCondition"


@dataclass(frozen=True, slots=True)
class And:
    parts: "tuple[SearchCondition, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    parts: "tuple[SearchCondition, ...]"


SearchCondition = (
    TextMatch | RegexMatch | HasState | HasMedia | DateRange | InLanguage | InFeeds | HasLabel | Not | And | Or
)


class SavedSearch(Struct, frozen=True, gc=False):
    """A search that a user saved under a name."""

    id: int
    name: str
    query: str
