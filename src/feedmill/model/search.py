"""What a search asks for: a tree of conditions that every database can be asked."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Scope = Literal["any", "title", "author", "text"]
StateName = Literal["unread", "read", "starred", "later", "archived"]
MediaName = Literal["image", "audio", "video", "enclosure"]
Order = Literal["rank", "date"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words that stand one after the other, as `store/search_words` cuts them; `prefix`: the last one goes on."""

    words: tuple[str, ...]
    scope: Scope = "any"
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class State:
    name: StateName


@dataclass(frozen=True, slots=True)
class Has:
    name: MediaName


@dataclass(frozen=True, slots=True)
class Dated:
    """From `since` to just before `until`; None leaves that end open."""

    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """`en` is every kind of English."""

    code: str


@dataclass(frozen=True, slots=True)
class OfFeeds:
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Without:
    part: "Condition"


@dataclass(frozen=True, slots=True)
class Every:
    parts: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Either:
    parts: "tuple[Condition, ...]"


Condition = Text | State | Has | Dated | Language | OfFeeds | Labelled | Without | Every | Either
