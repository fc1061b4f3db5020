"""How a refresh is shown while it runs: a bar for a person, lines of JSON for a program."""

import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from feedmill.cli.records import print_record
from feedmill.cli.say import counted
from feedmill.model.feed import Feed
from feedmill.model.terminal import harmless
from feedmill.store.batches import JobOutcome

OUTCOMES = ("updated", "unchanged", "failed", "postponed", "skipped", "cancelled")


@dataclass
class Report:
    """Counts what has ended. On its own it prints nothing until the summary."""

    feeds: Mapping[int, Feed]
    counts: Counter[str] = field(default_factory=Counter)
    new_entries: int = 0
    started: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to end."""

    def expect(self, total: int) -> None:
        """So many feeds will end."""

    def note(self, text: str) -> None:
        """Something a person may want to know."""

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


class Lines(Report):
    """One line of JSON for each feed, then one for all."""

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
                "message": outcome.message,
            }
        )


class Bar(Report):
    """A bar that moves, and a line above it for each feed that has news or failed."""

    def __enter__(self) -> Self:
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(highlight=False), transient=True)
        self._task = self._progress.add_task("", total=None)
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def expect(self, total: int) -> None:
        self._progress.update(self._task, total=total)

    def note(self, text: str) -> None:
        self._progress.print(escape(harmless(text)))

    def ended(self, outcome: JobOutcome) -> None:
        super().ended(outcome)
        if line := self._line(outcome):
            self._progress.print(line, overflow="ellipsis", no_wrap=True)
        counted = f"{self.new_entries} new, {self.counts['failed']} failed"
        self._progress.update(self._task, advance=1, description=counted)

    def summarize(self) -> None:
        seconds = time.monotonic() - self.started
        parts = [f"{self.counts[name]} {name}" for name in OUTCOMES if self.counts[name]]
        news = counted(self.new_entries, "new entry", "new entries")
        fetched = f"{counted(self.counts.total(), 'feed')} in {seconds:.1f} s"
        click.echo(f"{fetched}: {', '.join(parts) or 'nothing to do'}; {news}")

    def _line(self, outcome: JobOutcome) -> str | None:
        feed = self.feeds.get(outcome.feed_id)
        name = escape(harmless(feed.name if feed else f"feed {outcome.feed_id}"))
        if outcome.outcome == "updated":
            return f"[green]+{outcome.new_entries}[/] {name}" if outcome.new_entries else None
        if outcome.outcome == "unchanged":
            return None
        return f"[red]{outcome.outcome}[/] {name}: {escape(harmless(outcome.message or ''))}"


def report_on(feeds: Mapping[int, Feed], as_json: bool) -> Report:
    """The bar on a terminal, else lines."""
    return Bar(feeds) if sys.stdout.isatty() and not as_json else Lines(feeds)
