"""Timestamps as text: UTC, ISO 8601, milliseconds, fixed width, so that text order is time order."""

from datetime import UTC, datetime


def to_iso(moment: datetime) -> str:
    """`2026-02-18T08:30:00.000Z`; `moment` must be aware."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def from_iso(text: str) -> datetime:
    """Parses the output of `to_iso`."""
    return datetime.fromisoformat(text)


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else to_iso(moment)


def datetime_or_none(text: str | None) -> datetime | None:
    return None if text is None else from_iso(text)
