"""The headings of the days in a list."""

from collections.abc import Iterable

from feedmill.i18n.dates import DateFormatter


def day_headings(times: Iterable[tuple[int, str | None]], when: DateFormatter, before: str | None) -> dict[int, str]:
    """By entry that begins a day the heading of the day. `before` is the time of the last entry of the page before."""
    last = when.local(before).date() if before else None
    headings: dict[int, str] = {}
    for id, at in times:
        if at is not None and (day := when.local(at).date()) != last:
            headings[id], last = when.day_heading(at), day
    return headings
