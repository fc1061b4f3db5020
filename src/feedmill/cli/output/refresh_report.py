"""Reports on a refresh while it runs: a progress bar for people, JSON lines for programs."""

import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from feedmill.cli.output.json_records import print_record
from feedmill.model.batch import JobOutcome
from feedmill.model.feed import Feed
from feedmill.optional_imports import import_by_name

# Imported for a terminal only: a cron job has no use for rich.
PROGRESS_BAR = "feedmill.cli.output.progress_bar:ProgressBarReport"
OUTCOMES = ("updated", "unchanged", "failed", "postponed", "skipped", "cancelled")


@dataclass
class RefreshReport:
    """Counts outcomes, and prints only a summary."""

    feeds: Mapping[int, Feed]
    counts: Counter[str] = field(default_factory=Counter)
    new_entries: int = 0
    started: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Does nothing."""

    def expect(self, total: int) -> None:
        """Sets the number of feeds that will be reported."""

    def note(self, text: str) -> None:
        """Prints a remark for the user, if this report does."""

    def ended(self, outcome: JobOutcome) -> None:
        self.counts[outcome.outcome] += 1
        self.new_entries += outcome.new_entries

    @property
    def nothing_worked(self) -> bool:
        return bool(self.counts) and self.counts["failed"] == self.counts.total()

    def summarize(self) -> None:
        ms = round((time.monotonic() - self.started) * 1000)
        counts = {"feeds": self.counts.total()} | {name: self.counts[name] for name in OUTCOMES}
        print_record({"event": "summary", **counts, "new_entries": self.new_entries, "ms": ms})


class JsonLinesReport(RefreshReport):
    """One line of JSON for each feed, then one with the summary."""

    def note(self, text: str) -> None:
        print_record({"event": "note", "message": text})

    def ended(self, outcome: JobOutcome) -> None:
        super().ended(outcome)
        feed = self.feeds.get(outcome.feed_id)
        print_record(
            {
                "event": "feed",
                "feed_id": outcome.feed_id,
                "url": feed.url if feed else None,
                "title": feed.name if feed else None,
                "outcome": outcome.outcome,
                "new_entries": outcome.new_entries,
                "ms": outcome.ms,
                "message": None if outcome.message is None else str(outcome.message),
            }
        )


def make_report(feeds: Mapping[int, Feed], as_json: bool) -> RefreshReport:
    """A progress bar on a terminal, else JSON lines."""
    if sys.stdout.isatty() and not as_json:
        bar: RefreshReport = import_by_name(PROGRESS_BAR)(feeds)
        return bar
    return JsonLinesReport(feeds)
