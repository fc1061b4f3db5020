"""`/api/admin/log`: recent log lines."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from feedmill.logs import LOG_BUFFER
from feedmill.model.max_id import MAX_ID
from feedmill.serve.rest.core.base_models import FromAttributes
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.serve.rest.core.page_parameters import Limit

router = APIRouter(prefix="/admin", tags=["admin"])

Level = Literal["debug", "info", "warning", "error", "critical"]
LogTextParameter = Annotated[str, Query(max_length=200, description="Text in the line, in upper or lower case.")]
LogFeedParameter = Annotated[int | None, Query(ge=1, le=MAX_ID, description="Only lines about that feed.")]


class LogLineResponse(FromAttributes):
    at: datetime
    level: str
    event: str
    feed_id: int | None
    more: str = Field(description="The other fields of the line, as JSON; truncated if it is long.")


class LogLinesResponse(BaseModel):
    items: list[LogLineResponse] = Field(description="The newest first.")


@router.get("/log")
async def read_log(
    app: TheApp,
    who: Admin,
    limit: Limit = 50,
    level: Level = "info",
    text: LogTextParameter = "",
    feed_id: LogFeedParameter = None,
) -> LogLinesResponse:
    """The last log lines of the process that responds; in a scaled-out installation each process has its own."""
    return LogLinesResponse(
        items=[LogLineResponse.model_validate(line) for line in LOG_BUFFER.latest(level, text, feed_id, limit)]
    )
