"""The lifecycle rule with which an S3 bucket deletes expired raw bodies itself."""

import math
from typing import Any

from feedmill.archive.object_keys import RAW_BODIES_PREFIX
from feedmill.archive.object_store_config import FolderConfig, S3Config
from feedmill.errors import CallerError

# A day later than our own rows, so that no row refers to an object that the bucket has deleted.
LIFECYCLE_EXTRA_DAYS = 1


def lifecycle_rule(config: FolderConfig | S3Config, raw_days: float) -> dict[str, Any]:
    """The input of `aws s3api put-bucket-lifecycle-configuration`; raises CallerError for a folder."""
    if isinstance(config, FolderConfig):
        raise CallerError(f"objects are in the folder {config.folder}: only a bucket takes a lifecycle rule")
    rule = {
        "ID": "feedmill-raw-bodies",
        "Status": "Enabled",
        "Filter": {"Prefix": "/".join(filter(None, (config.prefix, RAW_BODIES_PREFIX)))},
        "Expiration": {"Days": math.ceil(raw_days) + LIFECYCLE_EXTRA_DAYS},
    }
    return {"Rules": [rule]}
