"""The progress bar of a refresh on a terminal."""

import time
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from feedmill.cli.output.format_text import pluralize
from feedmill.cli.output.refresh_report import OUTCOMES, RefreshReport
from feedmill.model.batch import JobOutcome
from feedmill.model.control_characters import replace_control_characters


class ProgressBarReport(RefreshReport):
    """A progress bar, and a line above it for each feed that has new entries or failed."""

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
        self._progress.print(escape(replace_control_characters(text)))

    def ended(self, outcome: JobOutcome) -> None:
        super().ended(outcome)
        if line := self._line(outcome):
            self._progress.print(line, overflow="ellipsis", no_wrap=True)
        counted = f"{self.new_entries} new, {self.counts['failed']} failed"
        self._progress.update(self._task, advance=1, description=counted)

    def summarize(self) -> None:
        seconds = time.monotonic() - self.started
        parts = [f"{self.counts[name]} {name}" for name in OUTCOMES if self.counts[name]]
        news = pluralize(self.new_entries, "new entry", "new entries")
        fetched = f"{pluralize(self.counts.total(), 'feed')} in {seconds:.1f} s"
        click.echo(f"{fetched}: {', '.join(parts) or 'nothing to do'}; {news}")

    def _line(self, outcome: JobOutcome) -> str | None:
        feed = self.feeds.get(outcome.feed_id)
        name = escape(replace_control_characters(feed.name if feed else f"feed {outcome.feed_id}"))
        if outcome.outcome == "updated":
            return f"[green]+{outcome.new_entries}[/] {name}" if outcome.new_entries else None
        if outcome.outcome == "unchanged":
            return None
        return f"[red]{outcome.outcome}[/] {name}: {escape(replace_control_characters(str(outcome.message or '')))}"
