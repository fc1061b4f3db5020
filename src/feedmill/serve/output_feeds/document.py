"""What both formats of an output feed are written from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from feedmill.library.output_feeds.addresses import OutputAddress
from feedmill.library.output_feeds.read_page import OutputEntry

GENERATOR, GENERATOR_URL = "Feedmill", "https://github.com/feedmill/feedmill"


@dataclass(frozen=True, slots=True)
class OutputDocument:
    """A page of an output feed. `next_url` is None on the last page.

    `hub_url` is the WebSub hub that is told of new entries; empty if there is none.
    """

    address: OutputAddress
    id: str
    title: str
    home_url: str
    updated_at: datetime
    entries: Sequence[OutputEntry]
    self_url: str
    next_url: str | None
    hub_url: str
