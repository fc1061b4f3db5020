"""The addresses of output feeds, and the hub that is told them."""

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode

from feedmill.settings import Settings

MOUNT_PATH = "/output-feeds"


def announcing_hub(settings: Settings) -> str:
    """The WebSub hub that is told of new entries; empty without one, or without an address that it could read."""
    return settings.websub_hub if settings.public_url else ""


class OutputFormat(StrEnum):
    """The formats of an output feed; the value is the last part of its address."""

    ATOM = "atom.xml"
    JSON_FEED = "feed.json"


@dataclass(frozen=True, slots=True)
class OutputAddress:
    """The address of an output feed in one format. `site` is that of this server, without a slash at the end."""

    site: str
    secret: str
    format: OutputFormat

    @property
    def url(self) -> str:
        return f"{self.site}{MOUNT_PATH}/{self.secret}/{self.format}"

    def page(self, **asked: str) -> str:
        """The address of a page with these parameters."""
        return f"{self.url}?{urlencode(asked)}" if asked else self.url
