"""The pictures of a digest, from the archive: by their address if browsers can load them, else inside the mail."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.archive.blobs import Blobs
from feedmill.errors import BlobError
from feedmill.model.notifications.notification_message import InlinePicture
from feedmill.store.archive.archived_images import ImageObject, images_of_entries
from feedmill.store.database import Database

# The longest life of a signed address of S3.
ADDRESS_LIFE = timedelta(days=7)
# What programs for mail show.
EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
# Mail servers refuse messages of more than ten to twenty megabytes.
MAX_PICTURE_BYTES = 500_000
MAX_BYTES = 5_000_000


@dataclass(slots=True)
class DigestPictures:
    """The `src` of the picture of an entry, by its id, and the pictures that are sent with the mail."""

    sources: dict[int, str] = field(default_factory=dict)
    inline: list[InlinePicture] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(picture.content) for picture in self.inline)


async def digest_pictures(db: Database, blobs: Blobs | None, entry_ids: Sequence[int]) -> DigestPictures:
    """A picture for each entry that has one in the archive, as long as there is room."""
    pictures = DigestPictures()
    if blobs is None:
        return pictures
    for entry_id, images in (await images_of_entries(db, entry_ids)).items():
        url = await blobs.url(images[0].key, ADDRESS_LIFE)
        if url and url.startswith("https://"):
            pictures.sources[entry_id] = url
        elif picture := await _inline_picture(blobs, entry_id, images, MAX_BYTES - pictures.size):
            pictures.sources[entry_id] = f"cid:{picture.name}"
            pictures.inline.append(picture)
    return pictures


async def _inline_picture(
    blobs: Blobs, entry_id: int, images: Sequence[ImageObject], most: int
) -> InlinePicture | None:
    """The first picture that fits; None if there is none, or if it can't be read now."""
    limit = min(most, MAX_PICTURE_BYTES)
    fitting = (each for each in images if each.content_type in EXTENSIONS and 0 < each.size <= limit)
    image = next(fitting, None)
    if image is None:
        return None
    try:
        content = await blobs.get(image.key, 0, limit)
    except BlobError:
        return None
    return InlinePicture(f"entry-{entry_id}.{EXTENSIONS[image.content_type]}", image.content_type, content)
