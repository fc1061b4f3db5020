"""Results of jobs in the form that other programs read from Redis."""

from collections.abc import Sequence
from typing import Any

from feedmill.model.batch import JobOutcome

JobResult = dict[str, Any]


def job_result_of(outcome: JobOutcome) -> JobResult:
    """What came of one feed."""
    match outcome.outcome:
        case "updated" | "unchanged":
            counts = {"article_count": outcome.new_entries, "duration_ms": outcome.ms}
            return {"success": True, "feed_id": outcome.feed_id} | counts
        case "failed":
            why = {"error": outcome.message or "unknown", "duration_ms": outcome.ms}
            return {"success": False, "feed_id": outcome.feed_id} | why
        case _:
            why = {"skipped": True, "reason": outcome.message or outcome.outcome}
            return {"success": True, "feed_id": outcome.feed_id} | why


def lot_result_of(feeds: int, outcomes: Sequence[JobOutcome], milliseconds: int) -> JobResult:
    """What came of a lot; each feed by itself would fill Redis with what the fetch log has already."""
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
