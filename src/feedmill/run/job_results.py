"""Results of jobs in the form that other programs read from Redis."""

from collections.abc import Sequence
from typing import Any

from feedmill.model.batch import JobOutcome

JobResult = dict[str, Any]


def job_result_of(outcome: JobOutcome) -> JobResult:
    """The result of one feed's job."""
    match outcome.outcome:
        case "updated" | "unchanged":
            counts = {"article_count": outcome.new_entries, "duration_ms": outcome.ms}
            return {"success": True, "feed_id": outcome.feed_id} | counts
        case "failed":
            details = {"error": str(outcome.message or "unknown"), "duration_ms": outcome.ms}
            return {"success": False, "feed_id": outcome.feed_id} | details
        case _:
            details = {"skipped": True, "reason": str(outcome.message or outcome.outcome)}
            return {"success": True, "feed_id": outcome.feed_id} | details


def chunk_result_of(feeds: int, outcomes: Sequence[JobOutcome], milliseconds: int) -> JobResult:
    """The result of a chunk as counts: one result per feed would fill Redis with what is in the fetch log."""
    refreshed = [outcome for outcome in outcomes if outcome.outcome in ("updated", "unchanged")]
    failed = sum(outcome.outcome == "failed" for outcome in outcomes)
    return {
        "success": True,
        "feeds": feeds,
        "refreshed": len(refreshed),
        "failed": failed,
        "skipped": feeds - len(refreshed) - failed,
        "article_count": sum(outcome.new_entries for outcome in refreshed),
        "duration_ms": milliseconds,
    }
