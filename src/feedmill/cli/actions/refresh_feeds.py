"""Refreshes feeds and reports the progress, for `feedmill refresh` and `feedmill import --fetch`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from secrets import token_hex

import click

from feedmill.app import App
from feedmill.cli.actions.find_feed import find_feed
from feedmill.cli.output.refresh_report import RefreshReport, make_report
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.errors import CallerError, InfrastructureError
from feedmill.model.batch import REFRESH_ALL
from feedmill.model.feed import Feed
from feedmill.model.refresh import RefreshDecision
from feedmill.run.embedded import EmbeddedParts, open_embedded
from feedmill.run.job_handlers import job_outcome_of
from feedmill.run.run_in_background import run_in_background
from feedmill.settings import Settings
from feedmill.store.admin.instance_overview import count_feeds_by_state
from feedmill.store.feeds.read_feeds import all_feeds, feeds_of_ids
from feedmill.store.jobs.batches import cancel_batch

# After Ctrl-C nobody wants to wait for the slowest server.
STOP_GRACE = timedelta(seconds=3)

RefreshWork = Callable[[App], Awaitable[RefreshReport]]


class StorageFailed(InfrastructureError):
    """Our own storage failed, so the remaining feeds were not fetched."""


def refresh_ids(settings: Settings, feed_ids: Sequence[int], as_json: bool) -> None:
    """Fetches these feeds and prints a report."""
    _run(settings, lambda app: _refresh_ids(app, feed_ids, as_json))


def refresh_all(settings: Settings, as_json: bool) -> None:
    """Fetches every feed that is not paused or at rest, and prints a report."""
    _run(settings, lambda app: _refresh_all(app, as_json))


def refresh_named(settings: Settings, names: tuple[str, ...], as_json: bool) -> None:
    """Fetches the feeds with these ids or URLs, and prints a report."""
    _run(settings, lambda app: _refresh_named(app, names, as_json))


def refresh_due(settings: Settings, as_json: bool) -> None:
    """Fetches the feeds that are due now, and prints a report."""
    _run(settings, lambda app: _refresh_due(app, as_json))


def _run(settings: Settings, work: RefreshWork) -> None:
    report = run_with_app(settings, work)
    report.summarize()
    if report.nothing_worked:
        raise click.exceptions.Exit(1)


async def _refresh_all(app: App, as_json: bool) -> RefreshReport:
    return await _batch(app, REFRESH_ALL, [feed for feed in await all_feeds(app.db) if feed.next_fetch_at], as_json)


async def _refresh_named(app: App, names: tuple[str, ...], as_json: bool) -> RefreshReport:
    found = [await find_feed(app.db, name) for name in names]
    for feed in found:
        if feed.next_fetch_at is None:
            hint = f"'feedmill resume {feed.id}' starts it again"
            raise CallerError(f"feed {feed.id} is not fetched ({feed.next_fetch_why}): {hint}")
    return await _batch(app, _unique_kind(), found, as_json)


async def _refresh_ids(app: App, feed_ids: Sequence[int], as_json: bool) -> RefreshReport:
    return await _batch(app, _unique_kind(), await feeds_of_ids(app.db, list(feed_ids)), as_json)


def _unique_kind() -> str:
    """A unique kind: batches of the same kind are merged, which a batch of chosen feeds must not be."""
    return f"refresh-{token_hex(8)}"


async def _batch(app: App, kind: str, feeds: Sequence[Feed], as_json: bool) -> RefreshReport:
    async with open_embedded(app, STOP_GRACE) as parts:
        with make_report({feed.id: feed for feed in feeds}, as_json) as report:
            batch_id, is_new = await parts.batches.refresh(kind, list(report.feeds))
            if not is_new:
                report.note("a refresh of all feeds runs already; watching that one")
            try:
                # Resumes the batch if the process that works on it is gone.
                async with run_in_background(parts.batches.keep_resuming()):
                    await _watch(parts, batch_id, report)
            except asyncio.CancelledError:
                if is_new:
                    await cancel_batch(app.db, batch_id, datetime.now(UTC))
                raise
    return report


async def _watch(parts: EmbeddedParts, batch_id: int, report: RefreshReport) -> None:
    async for progress in parts.batches.watch(batch_id):
        report.expect(progress.batch.total)
        for outcome in progress.ended:
            report.ended(outcome)


async def _refresh_due(app: App, as_json: bool) -> RefreshReport:
    feeds: dict[int, Feed] = {}
    with make_report(feeds, as_json) as report:

        def hear(feed: Feed, decision: RefreshDecision) -> None:
            feeds[feed.id] = feed
            report.ended(job_outcome_of(feed.id, decision))

        hearing = replace(app, tools=replace(app.tools, announce=hear))
        async with open_embedded(hearing, STOP_GRACE) as parts:
            await parts.scheduler.prepare()
            report.expect((await count_feeds_by_state(app.db, datetime.now(UTC)))["due"])
            await parts.scheduler.drain()
            if parts.handlers.breaker.is_open(datetime.now(UTC)):
                raise StorageFailed(
                    "our own storage failed, so the other feeds were not fetched: see 'feedmill doctor'"
                )
    return report
