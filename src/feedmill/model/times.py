"""Times as we keep them: UTC, ISO 8601, milliseconds, fixed width, so that text order is time order."""

from datetime import UTC, datetime


def to_text(moment: datetime) -> str:
    """`2026-02-18T08:30:00.000Z`; `moment` must be aware."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def from_text(text: str) -> datetime:
    """The moment that `to_text` wrote down."""
    return datetime.fromisoformat(text)


def text_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment)


def moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else from_text(text)
