"""Responses of jobs and of what came of each feed."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody


class JobResponse(ResponseBody):
    """`done` of `total` feeds have ended; `new` entries came with them, `failed` of them could not be fetched."""

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
    """What came of one feed; `subscription_id` is null when it is not subscribed to any more."""

    subscription_id: int | None
    outcome: str
    new: int
    ms: int
    message: str | None


class JobDetailResponse(JobResponse):
    """Also which feeds failed (the first 200), and what an import has to say of its lines."""

    failures: list[FeedOutcomeResponse]
    report: dict[str, Any] | None = None
