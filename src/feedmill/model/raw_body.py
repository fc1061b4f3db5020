"""A stored raw body."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.i18n.messages import Message, message_or_none

# The value for a truncated feed in the fetch log, the index of raw bodies and the feed's row.
INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class RawBodyDetails:
    """A stored raw body.

    `parse_result` is `ok`, `incomplete` if it was truncated, else the parse error; None when it is unknown.
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
    def problem(self) -> Message | None:
        """Why it is not a feed."""
        return None if self.is_feed else message_or_none(self.parse_result)

    @property
    def is_truncated(self) -> bool:
        return self.parse_result == INCOMPLETE
