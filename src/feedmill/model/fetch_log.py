"""A line of a feed's fetch log."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.i18n.messages import Message

# What a fetch may come to without being a failure.
SUCCESSES = ("updated", "not_modified", "same")


@dataclass(frozen=True, slots=True)
class FetchLogLine:
    at: datetime
    outcome: str
    http_status: int | None
    bytes: int
    ms: int
    new_entries: int
    revised_entries: int
    message: Message | None

    @property
    def failed(self) -> bool:
        return self.outcome not in SUCCESSES
