"""`feedmill restore`: replay what was kept through today's parser."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from feedmill.app import App
from feedmill.archive.found import find_images
from feedmill.cli.context import Context, pass_context
from feedmill.cli.named import feed_named
from feedmill.cli.say import counted
from feedmill.cli.world import run
from feedmill.collect.backups import Period
from feedmill.collect.restore import Restored, Tell, imagine
from feedmill.collect.restore import restore as restore_all
from feedmill.collect.restore_plan import Plan, imagine_from_store, plan_from_index, plan_from_store, strangers
from feedmill.store.raw import count_bodies


class Moment(click.ParamType):  # type: ignore[type-arg]
    """A day, or a day and a time; UTC unless it says otherwise."""

    name = "TIME"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no time: write 2026-02-18 or 2026-02-18T08:30", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@click.command()
@click.argument("feeds", nargs=-1, metavar="[FEED]…")
@click.option("--all", "everything", is_flag=True, help="Every feed.")
@click.option("--from-store", is_flag=True, help="Every feed that the object store holds: rebuilds an empty database.")
@click.option("--since", type=Moment(), help="Only what arrived at this time or later.")
@click.option("--until", type=Moment(), help="Only what arrived before this time.")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def restore(
    context: Context, feeds: tuple[str, ...], everything: bool, from_store: bool, since: datetime | None,
    until: datetime | None, dry_run: bool, as_json: bool,
) -> None:  # fmt: skip
    """Replay the kept bodies of FEEDs (ids or URLs), --all or --from-store, the oldest first, through today's parser.

    Entries that are missing are added and changed ones revised, as of the time when the body arrived. What was
    purged stays purged; what is read, starred or scheduled stays as it is. A second run changes nothing.
    """
    if (bool(feeds), everything, from_store).count(True) != 1:
        raise click.UsageError("say which feeds: ids or URLs, or --all, or --from-store")
    period = Period(since, until)
    settings = context.quiet_settings
    if from_store:
        done = run(settings, lambda app: _from_store(app, period, dry_run))
    else:
        done = run(settings, lambda app: _from_index(app, feeds, period, dry_run))
    click.echo(json.dumps(asdict(done)) if as_json else _summary(done, dry_run))


async def _from_index(app: App, names: Sequence[str], period: Period, dry_run: bool) -> Restored:
    chosen = [(await feed_named(app.db, name)).id for name in names] or None
    total = await count_bodies(app.db, chosen, period.since, period.until)
    return await _replay(app, plan_from_index(app.db, chosen, period), total, dry_run)


async def _from_store(app: App, period: Period, dry_run: bool) -> Restored:
    if unknown := await strangers(app.blobs):
        have = counted(unknown, "feed has", "feeds have")
        click.echo(f"left out: {have} bodies, but no card that says where the feed is", err=True)
    plan = imagine_from_store if dry_run else plan_from_store
    done = await _replay(app, plan(app.db, app.blobs, period, datetime.now(UTC)), None, dry_run)
    if not dry_run:
        await find_images(app.db, app.blobs, datetime.now(UTC))
    return done


async def _replay(app: App, plans: AsyncIterator[Plan], total: int | None, dry_run: bool) -> Restored:
    with _bar(total) as tell:
        return await (imagine if dry_run else restore_all)(app.tools, plans, tell)


@contextmanager
def _bar(total: int | None) -> Iterator[Tell]:
    """A bar on the terminal, if there is one, that hears of each body."""
    console = Console(highlight=False)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("bodies, {task.fields[found]} found"))
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task, found = progress.add_task("", total=total, found=0), 0

        def tell(one: Restored) -> None:
            nonlocal found
            found += one.added + one.revised
            progress.update(task, advance=1, found=found)

        yield tell


def _summary(done: Restored, dry_run: bool) -> str:
    would = "would add" if dry_run else "added"
    revise = "would revise" if dry_run else "revised"
    bodies = counted(done.bodies, "body", "bodies")
    lines = [f"{bodies} replayed: {would} {counted(done.added, 'entry', 'entries')}, {revise} {done.revised}"]
    lines += [f"{counted(done.unreadable, 'body is', 'bodies are')} no feed"] if done.unreadable else []
    lines += [f"{counted(done.missing, 'body is', 'bodies are')} gone from the object store"] if done.missing else []
    busy = counted(done.busy, "feed was", "feeds were")
    lines += [f"{busy} left out because somebody else is at work there; try again"] if done.busy else []
    return "\n".join(lines)
