"""The feeds of the demo, read from the files in `feeds/`: our own texts, under the licence of the project."""

import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from msgspec import Struct, convert

FOLDER = Path(__file__).parent
STORIES = "stories.toml"
# What is older has been read.
READ_AFTER_HOURS = 72


class DemoEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`hours` is its age when the demo starts. `story` names a text that several feeds have."""

    title: str
    hours: float
    html: str = ""
    story: str = ""
    author: str = ""
    picture: str = ""
    caption: str = ""
    audio: str = ""
    labels: tuple[str, ...] = ()
    is_read: bool = False
    is_starred: bool = False
    is_for_later: bool = False

    def published(self, start: datetime) -> datetime:
        return (start - timedelta(hours=self.hours)).replace(microsecond=0)

    @property
    def was_read(self) -> bool:
        return self.is_read or self.hours > READ_AFTER_HOURS


class DemoFeed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`is_broken`: it is gone after its first fetch. `is_live`: it has a new entry every minute."""

    path: str
    format: Literal["rss", "atom", "json"]
    title: str
    folder: str
    icon: str
    entries: tuple[DemoEntry, ...]
    language: str = "en"
    is_broken: bool = False
    is_live: bool = False

    def guid(self, number: int) -> str:
        """The identity of the entry with this number."""
        return f"{self.path}#{number}"

    def numbered_entries(self) -> list[tuple[int, DemoEntry]]:
        """The entries of the file, the newest first; the oldest is number 1."""
        return list(zip(range(len(self.entries), 0, -1), self.entries, strict=True))


def read_demo_feeds() -> list[DemoFeed]:
    files = sorted(path for path in (FOLDER / "feeds").glob("*.toml") if path.name != STORIES)
    return [convert(tomllib.loads(path.read_text("utf-8")), DemoFeed) for path in files]


def read_stories() -> dict[str, str]:
    """The texts that several feeds have, by name."""
    return convert(tomllib.loads((FOLDER / "feeds" / STORIES).read_text("utf-8")), dict[str, str])


def picture_file(name: str) -> Path:
    return FOLDER / "pictures" / f"{name}.png"
