"""`/api/admin/log` and `/api/admin/settings`: recent log lines and the effective settings."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from feedmill.archive.retention import preview_purge, retention_periods
from feedmill.library.admin.effective_settings import effective_settings
from feedmill.library.archive.backup_status import last_backup
from feedmill.logs import LOG_BUFFER
from feedmill.serve.http.pagination import MAX_ID
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.serve.rest.core.fields import FromAttributes
from feedmill.serve.rest.core.pagination import Limit
from feedmill.settings import SettingOrigin

router = APIRouter(prefix="/admin", tags=["admin"])

Level = Literal["debug", "info", "warning", "error", "critical"]
LogTextParameter = Annotated[str, Query(max_length=200, description="Text that is in the line, in capitals or not.")]
LogFeedParameter = Annotated[int | None, Query(ge=1, le=MAX_ID, description="Only lines about that feed.")]


class LogLineResponse(FromAttributes):
    at: datetime
    level: str
    event: str
    feed_id: int | None
    more: str = Field(description="Whatever else the line says, as JSON; cut when it is long.")


class LogLinesResponse(BaseModel):
    items: list[LogLineResponse] = Field(description="The newest first.")


class SettingResponse(FromAttributes):
    name: str
    value: str | int | float | bool | None = Field(description="`***` for a secret that is set.")
    origin: SettingOrigin
    description: str


class SettingsResponse(BaseModel):
    items: list[SettingResponse]


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
    wrong: list[str] = Field(description="What that found.")


class LastBackupResponse(BaseModel):
    last: BackupResponse | None = Field(description="null when none was ever made.")


class RetentionForecastResponse(FromAttributes):
    """How many of each the next purge drops, if nothing changes."""

    entries: int
    raw_bodies: int
    log_lines: int
    batches: int
    unread_lists: int
    objects: int


@router.get("/log")
async def read_log(
    app: TheApp,
    who: Admin,
    limit: Limit = 50,
    level: Level = "info",
    text: LogTextParameter = "",
    feed_id: LogFeedParameter = None,
) -> LogLinesResponse:
    """The last lines that the process that answers has written; scaled out, each process has its own."""
    return LogLinesResponse(
        items=[LogLineResponse.model_validate(line) for line in LOG_BUFFER.latest(level, text, feed_id, limit)]
    )


@router.get("/settings")
async def read_settings(app: TheApp, who: Admin) -> SettingsResponse:
    """The effective settings and where each comes from, secrets hidden."""
    return SettingsResponse(items=[SettingResponse.model_validate(one) for one in effective_settings(app.settings)])


@router.get("/backup")
async def read_backup(app: TheApp, who: Admin) -> LastBackupResponse:
    """The last backup that `feedmill backup` made of this database."""
    found = await last_backup(app.db)
    return LastBackupResponse(last=BackupResponse.model_validate(found) if found else None)


@router.get("/retention")
async def forecast_retention(app: TheApp, who: Admin) -> RetentionForecastResponse:
    """What would be dropped now because it was kept long enough; nothing is."""
    return RetentionForecastResponse.model_validate(
        await preview_purge(app.db, retention_periods(app.settings), datetime.now(UTC))
    )
