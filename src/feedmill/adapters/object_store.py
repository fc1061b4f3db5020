"""Opens the object store that the settings name: a folder or S3."""

from feedmill.archive.blobs import Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.object_store_config import FolderConfig, S3Config, parse_objects_url
from feedmill.optional_imports import import_by_name
from feedmill.settings import Settings

S3 = "feedmill.archive.s3:S3Blobs"


def open_blobs(settings: Settings) -> Blobs:
    place = object_store_config(settings)
    if isinstance(place, FolderConfig):
        return FolderBlobs(place.folder, place.images_base_url)
    in_bucket: Blobs = import_by_name(S3)(place)
    return in_bucket


def object_store_config(settings: Settings) -> FolderConfig | S3Config:
    """Where objects are kept."""
    secret = settings.s3_secret_key.get_secret_value()
    return parse_objects_url(
        settings.objects or str(settings.data / "objects"), settings.s3_access_key, secret, settings.images_base_url
    )
