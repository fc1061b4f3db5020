"""`/api/admin/storage`, `/backup` and `/retention`: what is stored, backed up, and purged next."""

from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.api_schemas.response_body import MessageText
from feedmill.archive.purge import preview_purge, retention_periods
from feedmill.library.archive.backup_status import last_backup
from feedmill.serve.rest.core.base_models import FromAttributes
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.store.archive.storage_usage import measure_storage_usage

router = APIRouter(prefix="/admin", tags=["admin"])


class LargestFeedResponse(FromAttributes):
    feed_id: int
    url: str
    title: str | None
    entries: int
    raw_bytes: int
    image_bytes: int


class StorageUsageResponse(FromAttributes):
    feeds: int
    entries: int
    raw_bodies: int
    raw_bytes: int
    images: int
    image_bytes: int
    objects_to_delete: int
    database_bytes: int | None = Field(description="null if the database does not report it.")
    largest: list[LargestFeedResponse] = Field(description="The 20 feeds that use the most storage.")


class BackupResponse(FromAttributes):
    folder: str
    created_at: datetime
    size: int = Field(description="The bytes of the backup.")
    objects: int
    object_bytes: int
    with_objects: bool = Field(description="Whether objects were copied, not only listed.")
    consistent: bool = Field(description="Whether all rows are of one moment.")
    checked_at: datetime | None
    sound: bool | None = Field(description="null until `feedmill backup --check` has read it.")
    problems: list[MessageText] = Field(description="The problems that the check found.")


class LastBackupResponse(BaseModel):
    last: BackupResponse | None = Field(description="null if there is no backup.")


class RetentionForecastResponse(FromAttributes):
    """How many of each the next purge drops, if nothing changes."""

    entries: int
    raw_bodies: int
    log_lines: int
    batches: int
    unread_lists: int
    objects: int


@router.get("/storage")
async def read_storage(app: TheApp, who: Admin) -> StorageUsageResponse:
    """Storage usage, and the feeds that use the most."""
    return StorageUsageResponse.model_validate(await measure_storage_usage(app.db))


@router.get("/backup")
async def read_backup(app: TheApp, who: Admin) -> LastBackupResponse:
    """The last backup that `feedmill backup` made of this database."""
    found = await last_backup(app.db)
    return LastBackupResponse(last=BackupResponse.model_validate(found) if found else None)


@router.get("/retention")
async def forecast_retention(app: TheApp, who: Admin) -> RetentionForecastResponse:
    """A preview of what retention would delete now."""
    return RetentionForecastResponse.model_validate(
        await preview_purge(app.db, retention_periods(app.settings), datetime.now(UTC))
    )
