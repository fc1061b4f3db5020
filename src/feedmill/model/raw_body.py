"""The body of a response to a fetch, as it was kept."""

from dataclasses import dataclass
from datetime import datetime

# What the fetch log, the index of raw bodies and the feed's row call a feed that was truncated.
INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class RawBodyDetails:
    """An answer as it was kept.

    `parse_result` is `ok`, `incomplete` if it was truncated, else what was wrong with it; None when nobody noted it.
    """

    id: int
    key: str
    at: datetime
    http_status: int | None
    content_type: str | None
    size: int
    entry_count: int
    new_entries: int
    parse_result: str | None

    @property
    def is_feed(self) -> bool:
        return self.parse_result in (None, "ok", INCOMPLETE)

    @property
    def is_truncated(self) -> bool:
        return self.parse_result == INCOMPLETE
