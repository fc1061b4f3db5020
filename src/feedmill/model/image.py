"""Image tasks, downloaded images and failed downloads."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from feedmill.model.encrypted import Encrypted


class ImageStatus(StrEnum):
    PENDING = "pending"
    SUCCESS = "success"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImageTask:
    """An image that `token` has the right to fetch; `object_key` is what an earlier attempt reserved."""

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
    """The bytes of an image, as they came."""

    type: ImageType
    body: bytes


@dataclass(frozen=True, slots=True)
class ImageDownloadFailed:
    """There is no image yet; `again_at` is None when there never will be. What is not counted is nobody's fault."""

    reason: str
    again_at: datetime | None
    counted: bool = True
