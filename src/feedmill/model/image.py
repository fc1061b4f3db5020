"""Image tasks, downloaded images and failed downloads, icons of feeds."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted


class ImageStatus(StrEnum):
    PENDING = "pending"
    SUCCESS = "success"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImageTask:
    """A leased image task; `token` is the lease, `object_key` the key that an earlier attempt reserved."""

    id: int
    token: str
    feed_id: int
    guid: str
    position: int
    url: str
    attempts: int
    object_key: str | None
    link: str | None
    feed_url: str
    http_options: Encrypted | None


@dataclass(frozen=True, slots=True)
class ImageType:
    extension: str
    content_type: str


@dataclass(frozen=True, slots=True)
class DownloadedImage:
    """The original bytes of an image."""

    type: ImageType
    body: bytes


@dataclass(frozen=True, slots=True)
class ImageDownloadFailed:
    """Why an image was not stored; `again_at` is None if it is not retried. `counted`: it counts as an attempt."""

    reason: Message
    again_at: datetime | None
    counted: bool = True


class StoredIcon(NamedTuple):
    """An icon of a feed."""

    sha256: str
    media_type: str
    body: bytes
