"""Output feeds: lists of a user that other programs read as Atom or JSON Feed under a secret address."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

_LIST = re.compile(r"(all|starred|later)|(feed|folder|label|search|filter|pool)/([1-9][0-9]{0,14})", re.ASCII)


class OutputListKind(StrEnum):
    """What an output feed lists. The pages of the first six have the same names in their paths."""

    ALL = "all"
    STARRED = "starred"
    LATER = "later"
    FEED = "feed"
    FOLDER = "folder"
    LABEL = "label"
    SEARCH = "search"
    FILTER = "filter"
    POOL = "pool"


@dataclass(frozen=True, slots=True)
class OutputList:
    """A list: a kind, and the id of the subscription, folder, label, search, filter or pool group; 0 without one."""

    kind: OutputListKind
    id: int = 0

    @property
    def name(self) -> str:
        """`starred` or `folder/3`."""
        return f"{self.kind}/{self.id}" if self.id else str(self.kind)


def parse_output_list(name: str) -> OutputList | None:
    """The list of that name; None for anything else."""
    found = _LIST.fullmatch(name)
    if found is None:
        return None
    return OutputList(OutputListKind(found[1])) if found[1] else OutputList(OutputListKind(found[2]), int(found[3]))


@dataclass(frozen=True, slots=True)
class OutputFeed:
    """An output feed. `announces`: a WebSub hub is told of new entries.

    `content_digest` is that of its first page as it was last served, and `changed_at` since when it is so.
    """

    id: int
    name: str
    list: OutputList
    announces: bool
    created_at: datetime
    last_used_at: datetime | None
    last_address: str | None
    last_user_agent: str | None
    content_digest: str | None
    changed_at: datetime | None
