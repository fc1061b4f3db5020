"""`feedmill restore`: replay stored raw bodies through the current parser."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from feedmill.app import App
from feedmill.archive.feed_descriptors import FeedDescriptor
from feedmill.archive.images.recover_images import recover_stored_images
from feedmill.archive.store_ownership import owns_store, take_store_ownership
from feedmill.cli.actions.complete_names import complete_feed
from feedmill.cli.actions.find_feed import find_feed
from feedmill.cli.output.format_text import pluralize
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.collect.restore import ReportProgress, RestoreReport, preview_restore
from feedmill.collect.restore import restore_feeds as restore_all
from feedmill.collect.restore_bodies import Period
from feedmill.collect.restore_plan import (
    RestorePlan,
    find_descriptors,
    plan_from_index,
    plan_from_store,
    preview_from_store,
)
from feedmill.store.archive.raw_bodies import count_raw_bodies

OWNED_BY_ANOTHER = (
    "the object store is not this database's, so it will not be purged from here: run the same command with "
    "--take-ownership if the database that had it is gone, else give this one a store of its own (setting 'objects')"
)


class TimeParam(click.ParamType):  # type: ignore[type-arg]
    """A day, or a day and a time; UTC unless it says otherwise."""

    name = "TIME"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no time: write 2026-02-18 or 2026-02-18T08:30", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@click.command()
@click.argument("feeds", nargs=-1, metavar="[FEED]…", shell_complete=complete_feed)
@click.option("--all", "everything", is_flag=True, help="Every feed.")
@click.option("--from-store", is_flag=True, help="Every feed in the object store: rebuilds an empty database.")
@click.option(
    "--take-ownership",
    is_flag=True,
    help="With --from-store: this database becomes the owner of the store; the previous owner can no longer purge it.",
)
@click.option("--since", type=TimeParam(), help="Only bodies fetched at this time or later.")
@click.option("--until", type=TimeParam(), help="Only bodies fetched before this time.")
@click.option("--dry-run", is_flag=True, help="Only print what would change.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def restore(
    context: Context,
    feeds: tuple[str, ...],
    everything: bool,
    from_store: bool,
    take_ownership: bool,
    since: datetime | None,
    until: datetime | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Replay the stored raw bodies of FEEDs (ids or URLs), --all or --from-store, oldest first, through the parser.

    Missing entries are added and changed ones revised, as of the time when the body was fetched. Purged entries stay
    purged; read and starred marks and the schedule are not changed. A second run changes nothing. A store without
    feed descriptors, which contain the feeds' URLs, can't be restored from: nothing changes and the exit code is 1.
    """
    if (bool(feeds), everything, from_store).count(True) != 1:
        raise click.UsageError("name the feeds by id or URL, or use --all or --from-store")
    if take_ownership and not from_store:
        raise click.UsageError("--take-ownership needs --from-store")
    period = Period(since, until)
    settings = context.quiet_settings
    if from_store:
        result = run_with_app(settings, lambda app: _from_store(app, period, dry_run, take_ownership))
    else:
        result = run_with_app(settings, lambda app: _from_index(app, feeds, period, dry_run))
    click.echo(json.dumps(asdict(result)) if as_json else _summary(result, dry_run))


async def _from_index(app: App, names: Sequence[str], period: Period, dry_run: bool) -> RestoreReport:
    chosen = [(await find_feed(app.db, name)).id for name in names] or None
    total = await count_raw_bodies(app.db, chosen, period.since, period.until)
    return await _replay(app, plan_from_index(app.db, chosen, period), total, dry_run)


async def _from_store(app: App, period: Period, dry_run: bool, take_ownership: bool) -> RestoreReport:
    descriptors, unknown = await find_descriptors(app.blobs)
    if unknown:
        have = pluralize(unknown, "feed has", "feeds have")
        click.echo(f"left out: {have} bodies, but no descriptor that says where the feed is", err=True)
    plan = preview_from_store if dry_run else plan_from_store
    result = await _replay(app, plan(app.db, app.blobs, descriptors, period, datetime.now(UTC)), None, dry_run)
    if not dry_run:
        await recover_stored_images(app.db, app.blobs, datetime.now(UTC))
        # Last, so that an interrupted run does not change the owner.
        await _settle_ownership(app, take_ownership)
    _print_logins(descriptors)
    return result


async def _settle_ownership(app: App, take_ownership: bool) -> None:
    if await owns_store(app.db, app.blobs):
        return
    if take_ownership:
        await take_store_ownership(app.db, app.blobs)
        click.echo("the object store belongs to this database now", err=True)
    else:
        click.echo(OWNED_BY_ANOTHER, err=True)


def _print_logins(descriptors: Sequence[FeedDescriptor]) -> None:
    """Lists the feeds whose login must be entered again: logins are not in the object store."""
    for descriptor in descriptors:
        if descriptor.has_login:
            click.echo(f"needs its password again: {descriptor.url}", err=True)


async def _replay(app: App, plans: AsyncIterator[RestorePlan], total: int | None, dry_run: bool) -> RestoreReport:
    with _bar(total) as report:
        return await (preview_restore if dry_run else restore_all)(app.tools, plans, report)


@contextmanager
def _bar(total: int | None) -> Iterator[ReportProgress]:
    """A progress bar on a terminal, updated after each body."""
    console = Console(highlight=False)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("bodies, {task.fields[found]} found"))
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task, found = progress.add_task("", total=total, found=0), 0

        def report(partial: RestoreReport) -> None:
            nonlocal found
            found += partial.added + partial.revised
            progress.update(task, advance=1, found=found)

        yield report


def _summary(result: RestoreReport, dry_run: bool) -> str:
    would = "would add" if dry_run else "added"
    revise = "would revise" if dry_run else "revised"
    bodies = pluralize(result.bodies, "body", "bodies")
    lines = [f"{bodies} replayed: {would} {pluralize(result.added, 'entry', 'entries')}, {revise} {result.revised}"]
    lines += [pluralize(result.unreadable, "body is not a feed", "bodies are not feeds")] if result.unreadable else []
    lines += (
        [f"{pluralize(result.missing, 'body is', 'bodies are')} missing in the object store"] if result.missing else []
    )
    busy = pluralize(result.busy, "feed was", "feeds were")
    lines += [f"{busy} left out because another process is working on them; try again"] if result.busy else []
    return "\n".join(lines)
