"""`/api/admin/…`: the last lines of the log, the settings, the last backup, and what retention would drop."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from feedmill.archive.retention import foresee, read_keeping
from feedmill.library.backups import last_backup
from feedmill.library.effective import effective
from feedmill.logs import TAIL
from feedmill.serve.rest.cursors import Limit
from feedmill.serve.rest.fields import MOST_ID
from feedmill.serve.rest.parts import Admin, TheApp
from feedmill.settings import Origin

router = APIRouter(prefix="/admin", tags=["admin"])

Level = Literal["debug", "info", "warning", "error", "critical"]
Words = Annotated[str, Query(max_length=200, description="Text that is in the line, in capitals or not.")]
OfFeed = Annotated[int | None, Query(ge=1, le=MOST_ID, description="Only lines about that feed.")]


class Shown(BaseModel):
    """Made from the value of the same fields."""

    model_config = ConfigDict(from_attributes=True)


class LineShown(Shown):
    at: datetime
    level: str
    event: str
    feed_id: int | None
    more: str = Field(description="Whatever else the line says, as JSON; cut when it is long.")


class LogTail(BaseModel):
    items: list[LineShown] = Field(description="The newest first.")


class SettingShown(Shown):
    name: str
    value: str | int | float | bool | None = Field(description="`***` for a secret that is set.")
    origin: Origin
    description: str


class SettingList(BaseModel):
    items: list[SettingShown]


class BackupShown(Shown):
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


class BackupState(BaseModel):
    last: BackupShown | None = Field(description="null when none was ever made.")


class WouldGo(Shown):
    """How many of each the next purge drops, if nothing changes."""

    entries: int
    raw_bodies: int
    log_lines: int
    batches: int
    unread_lists: int
    objects: int


@router.get("/log")
async def read_log(
    app: TheApp, who: Admin, limit: Limit = 50, level: Level = "info", text: Words = "", feed_id: OfFeed = None
) -> LogTail:
    """The last lines that the process that answers has written; scaled out, each process has its own."""
    return LogTail(items=[LineShown.model_validate(line) for line in TAIL.latest(level, text, feed_id, limit)])


@router.get("/settings")
async def read_settings(app: TheApp, who: Admin) -> SettingList:
    """The effective settings and where each comes from, secrets hidden."""
    return SettingList(items=[SettingShown.model_validate(one) for one in effective(app.settings)])


@router.get("/backup")
async def read_backup(app: TheApp, who: Admin) -> BackupState:
    """The last backup that `feedmill backup` made of this database."""
    found = await last_backup(app.db)
    return BackupState(last=BackupShown.model_validate(found) if found else None)


@router.get("/retention")
async def foresee_retention(app: TheApp, who: Admin) -> WouldGo:
    """What would be dropped now because it was kept long enough; nothing is."""
    return WouldGo.model_validate(await foresee(app.db, read_keeping(app.settings), datetime.now(UTC)))
