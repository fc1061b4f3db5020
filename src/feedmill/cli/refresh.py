"""`feedmill refresh`: fetch feeds now, watch how it goes, and hear what came of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from secrets import token_hex

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.named import feed_named
from feedmill.cli.progress import Report, report_on
from feedmill.cli.world import run
from feedmill.errors import CallerError, InfrastructureError
from feedmill.model.feed import Feed
from feedmill.model.refresh import Decision
from feedmill.run.beside import beside
from feedmill.run.embedded import Embedded, embedded
from feedmill.run.handlers import outcome_of
from feedmill.settings import Settings
from feedmill.store.batches import REFRESH_ALL, cancel_batch
from feedmill.store.feeds import all_feeds, feeds_of_ids
from feedmill.store.overview import count_feeds

# Who presses Ctrl-C does not want to wait for the slowest server.
GRACE = timedelta(seconds=3)

Work = Callable[[App], Awaitable[Report]]


class StorageFailed(InfrastructureError):
    """Our own storage failed, so the rest was left for later."""


@click.command()
@click.argument("feeds", nargs=-1, metavar="[FEED]…")
@click.option("--all", "everything", is_flag=True, help="Every feed that is not paused or at rest, due or not.")
@click.option("--due", is_flag=True, help="What is due now, as a server would do it; compares the feeds file first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line (as in a pipe).")
@pass_context
def refresh(context: Context, feeds: tuple[str, ...], everything: bool, due: bool, as_json: bool) -> None:
    """Fetch feeds now: FEEDs by id or URL, --all, or --due.

    The exit code is 0 when some feeds fail, and 1 when all of them do.
    """
    if (bool(feeds), everything, due).count(True) != 1:
        raise click.UsageError("say which feeds: ids or URLs, or --all, or --due")
    settings = context.quiet_settings
    if due:
        _run(settings, lambda app: _refresh_due(app, as_json))
    elif everything:
        _run(settings, lambda app: _refresh_all(app, as_json))
    else:
        _run(settings, lambda app: _refresh_named(app, feeds, as_json))


def refresh_some(settings: Settings, feed_ids: Sequence[int], as_json: bool) -> None:
    """Fetches these feeds and tells how it went."""
    _run(settings, lambda app: _refresh_ids(app, feed_ids, as_json))


def _run(settings: Settings, work: Work) -> None:
    report = run(settings, work)
    report.summarize()
    if report.nothing_worked:
        raise click.exceptions.Exit(1)


async def _refresh_all(app: App, as_json: bool) -> Report:
    return await _batch(app, REFRESH_ALL, [feed for feed in await all_feeds(app.db) if feed.next_fetch_at], as_json)


async def _refresh_named(app: App, names: tuple[str, ...], as_json: bool) -> Report:
    found = [await feed_named(app.db, name) for name in names]
    for feed in found:
        if feed.next_fetch_at is None:
            hint = f"'feedmill resume {feed.id}' starts it again"
            raise CallerError(f"feed {feed.id} is not fetched ({feed.next_fetch_why}): {hint}")
    return await _batch(app, _kind_of_its_own(), found, as_json)


async def _refresh_ids(app: App, feed_ids: Sequence[int], as_json: bool) -> Report:
    return await _batch(app, _kind_of_its_own(), await feeds_of_ids(app.db, list(feed_ids)), as_json)


def _kind_of_its_own() -> str:
    """Batches of one kind join each other; one with chosen feeds must not end up in another's."""
    return f"refresh-{token_hex(8)}"


async def _batch(app: App, kind: str, feeds: Sequence[Feed], as_json: bool) -> Report:
    async with embedded(app, GRACE) as parts:
        with report_on({feed.id: feed for feed in feeds}, as_json) as report:
            batch_id, is_new = await parts.batches.refresh(kind, list(report.feeds))
            if not is_new:
                report.note("a refresh of all feeds runs already; watching that one")
            try:
                # Whoever waits for a batch sees to it that somebody works on it.
                async with beside(parts.batches.keep_resuming()):
                    await _watch(parts, batch_id, report)
            except asyncio.CancelledError:
                if is_new:
                    await cancel_batch(app.db, batch_id, datetime.now(UTC))
                raise
    return report


async def _watch(parts: Embedded, batch_id: int, report: Report) -> None:
    async for progress in parts.batches.watch(batch_id):
        report.expect(progress.batch.total)
        for outcome in progress.ended:
            report.ended(outcome)


async def _refresh_due(app: App, as_json: bool) -> Report:
    feeds: dict[int, Feed] = {}
    with report_on(feeds, as_json) as report:

        def hear(feed: Feed, decision: Decision) -> None:
            feeds[feed.id] = feed
            report.ended(outcome_of(feed.id, decision))

        hearing = replace(app, tools=replace(app.tools, announce=hear))
        async with embedded(hearing, GRACE) as parts:
            await parts.scheduler.prepare()
            report.expect((await count_feeds(app.db, datetime.now(UTC)))["due"])
            await parts.scheduler.drain()
            if parts.handlers.breaker.is_open(datetime.now(UTC)):
                raise StorageFailed("our own storage failed, the rest is left for later: 'feedmill check' tells more")
    return report
