"""The plots of a feed's health page: fetches, entries per day and hour, errors, sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from markupsafe import Markup

from feedmill.i18n.byte_sizes import format_bytes
from feedmill.i18n.dates import DateFormatter
from feedmill.i18n.translator import Translator
from feedmill.library.feeds.health import FailureGroup, FeedHealth
from feedmill.model.raw_body import RawBodyDetails
from feedmill.model.refresh import FetchLogLine
from feedmill.serve.web.core.plots import PlotMark, bars, heat_grid, shaped_bars

DAYS = 90
ERROR_DAYS = 30
HOUR_NAMES = [str(hour) if hour % 6 == 0 else "" for hour in range(24)]


def fetch_mark_kind(fetch: FetchLogLine) -> str:
    """The kind of mark for a fetch: one of four shapes."""
    if fetch.failed:
        return "failed"
    if fetch.outcome in ("updated", "pushed"):
        return "ok" if fetch.new_entries else "quiet"
    return "same"


@dataclass(frozen=True, slots=True)
class HealthPlots:
    health: FeedHealth
    t: Translator
    when: DateFormatter

    def outcome(self, fetch: FetchLogLine) -> str:
        """The outcome of a fetch in a few words."""
        return self.t(f"health.error_{fetch.failure_name}" if fetch.failed else f"health.outcome_{fetch.outcome}")

    def fetches(self) -> Markup:
        marks = [PlotMark(each.ms, self._fetch(each), fetch_mark_kind(each)) for each in reversed(self.health.fetches)]
        return shaped_bars(marks, self.t("health.plot_fetches", n=len(marks)))

    def _fetch(self, fetch: FetchLogLine) -> str:
        parts = [self.when.full(fetch.at), self.outcome(fetch)]
        parts += [f"HTTP {fetch.http_status}"] if fetch.http_status else []
        parts += [f"{self.t.number(fetch.ms)} ms", format_bytes(fetch.bytes)]
        return " · ".join([*parts, self.t("health.new", n=fetch.new_entries)])

    @property
    def days(self) -> dict[date, int]:
        """The number of entries of each of the last days in the user's time zone, including days without any."""
        today = self.when.local(self.when.now).date()
        counted = {today - timedelta(days=back): 0 for back in range(DAYS - 1, -1, -1)}
        for hour, entries in self.health.hours.items():
            day = self.when.local(hour).date()
            if day in counted:
                counted[day] += entries
        return counted

    def rhythm(self) -> Markup:
        days = self.days
        marks = [
            PlotMark(count, f"{self.day_text(day)}: {self.t('health.entries', n=count)}", "ok" if count else "none")
            for day, count in days.items()
        ]
        return bars(marks, self.t("health.plot_days", n=sum(days.values())), height=56)

    @property
    def weekdays(self) -> list[str]:
        return self.t("health.weekdays").split()

    @property
    def hours(self) -> list[tuple[str, str]]:
        """The column headers of a table by hour, with the CSS class of each column."""
        return [(str(hour), "number") for hour in range(24)]

    @property
    def week(self) -> list[list[int]]:
        """The number of entries by weekday and hour in the user's time zone."""
        grid = [[0] * 24 for _ in range(7)]
        for hour, entries in self.health.hours.items():
            at = self.when.local(hour)
            grid[at.weekday()][at.hour] += entries
        return grid

    def grid(self) -> Markup:
        week, names = self.week, self.weekdays
        titles = [
            [f"{name} {hour}:00 · {self.t('health.entries', n=count)}" for hour, count in enumerate(row)]
            for name, row in zip(names, week, strict=True)
        ]
        title = self.t("health.plot_week")
        return heat_grid(week, names, title, titles, cell=16, margin=44, column_names=HOUR_NAMES)

    def errors(self, error: FailureGroup) -> Markup:
        today = self.when.now.date()
        days = [today - timedelta(days=back) for back in range(ERROR_DAYS - 1, -1, -1)]
        marks = [self._failed_on(day, error.by_day) for day in days]
        return bars(marks, self.t("health.plot_errors", n=error.count), height=20, width=4)

    def _failed_on(self, day: date, by_day: Mapping[str, int]) -> PlotMark:
        count = by_day.get(day.isoformat(), 0)
        return PlotMark(
            count, f"{self.day_text(day)}: {self.t('health.times', n=count)}", "failed" if count else "none"
        )

    def sizes(self) -> Markup:
        marks = [self._raw_body_mark(each, each.size, format_bytes(each.size)) for each in self._raw_bodies()]
        return bars(marks, self.t("health.plot_sizes"), height=48, width=8, gap=2)

    def items(self) -> Markup:
        raw_bodies = self._raw_bodies()
        marks = [
            self._raw_body_mark(each, each.entry_count, self.t("health.entries", n=each.entry_count))
            for each in raw_bodies
        ]
        return bars(marks, self.t("health.plot_items"), height=48, width=8, gap=2)

    def _raw_bodies(self) -> Sequence[RawBodyDetails]:
        return self.health.raw_bodies[::-1]

    def _raw_body_mark(self, raw_body: RawBodyDetails, value: float, text: str) -> PlotMark:
        return PlotMark(value, f"{self.when.full(raw_body.at)} · {text}", "ok" if raw_body.is_feed else "failed")

    def day_text(self, day: date) -> str:
        return self.when.day(datetime(day.year, day.month, day.day, 12, tzinfo=self.when.now.tzinfo))
