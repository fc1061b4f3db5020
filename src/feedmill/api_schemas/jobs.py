"""Responses of jobs and of the outcome of each feed."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody


class JobResponse(ResponseBody):
    """`done` of `total` feeds have ended, with `new` entries in all; `failed` of them could not be fetched."""

    id: int
    kind: str = Field(description="`refresh_all`, `refresh` or `import`.")
    status: Literal["running", "done", "cancelled"]
    total: int
    done: int
    new: int
    failed: int
    created_at: datetime
    finished_at: datetime | None
    waiting: bool = Field(
        default=False, description="The queue was not available; the job starts as soon as a worker finds it."
    )


class FeedOutcomeResponse(ResponseBody):
    """The outcome of one feed; `subscription_id` is null if the user has unsubscribed."""

    subscription_id: int | None
    outcome: str
    new: int
    ms: int
    message: str | None


class JobDetailResponse(JobResponse):
    """A job with its failed feeds (the first 200) and, for an import, the report on the lines of the file."""

    failures: list[FeedOutcomeResponse]
    report: dict[str, Any] | None = None
