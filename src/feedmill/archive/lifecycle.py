"""The rule by which an S3 or R2 bucket ends raw bodies itself, for those who prefer that to our chore."""

import math
from typing import Any

from feedmill.archive.keys import BACKUPS
from feedmill.archive.location import FolderConfig, S3Config
from feedmill.errors import CallerError

# A day later than our own rows, so that no row speaks of an object that the bucket has ended.
LATER_DAYS = 1


def lifecycle_rule(place: FolderConfig | S3Config, raw_days: float) -> dict[str, Any]:
    """What `aws s3api put-bucket-lifecycle-configuration` takes; raises CallerError for a folder."""
    if isinstance(place, FolderConfig):
        raise CallerError(f"objects are in the folder {place.folder}: only a bucket takes a lifecycle rule")
    rule = {
        "ID": "feedmill-raw-bodies",
        "Status": "Enabled",
        "Filter": {"Prefix": "/".join(filter(None, (place.prefix, BACKUPS)))},
        "Expiration": {"Days": math.ceil(raw_days) + LATER_DAYS},
    }
    return {"Rules": [rule]}
