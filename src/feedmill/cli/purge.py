"""`feedmill purge`: delete what was kept long enough, as a server does each day."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

import click

from feedmill.adapters.object_store import object_store_config
from feedmill.app import App
from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.orphans import find_orphans, record_orphans
from feedmill.archive.retention import delete_garbage, lifecycle_rule, preview_purge, retention_periods
from feedmill.archive.retention import purge as purge_all
from feedmill.archive.store_ownership import ensure_store_ownership
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app

LABELS = {
    "entries": "entries that left their feed long ago",
    "raw_bodies": "raw bodies",
    "log_lines": "lines of the fetch log",
    "batches": "batches that ended",
    "unread_lists": "unread lists that nobody needs",
    "orphans": "objects that nothing refers to",
    "objects": "objects deleted",
}


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be dropped.")
@click.option("--sweep", "with_sweep", is_flag=True, help="Also look through the whole object store for orphans.")
@click.option("--lifecycle", is_flag=True, help="Only print the rule by which a bucket ends raw bodies itself.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def purge(context: Context, dry_run: bool, with_sweep: bool, lifecycle: bool, as_json: bool) -> None:
    """Drop what has been kept long enough; a server does this each day, and the sweep each week.

    Entries go retention_days after they left their feed (starred, labelled and read-later ones stay), raw bodies
    after raw_days, the fetch log after 30 days.
    """
    settings = context.quiet_settings
    if lifecycle:
        click.echo(json.dumps(lifecycle_rule(object_store_config(settings), settings.raw_days), indent=2))
        return
    work = _foresee if dry_run else _purge
    done = run_with_app(settings, lambda app: work(app, with_sweep))
    if as_json:
        click.echo(json.dumps(done))
    else:
        _tell(done, "would drop" if dry_run else "dropped")


async def _purge(app: App, with_sweep: bool) -> dict[str, int]:
    now, keeping = datetime.now(UTC), retention_periods(app.settings)
    await ensure_store_ownership(app.db, app.blobs)
    done = asdict(await purge_all(app.db, app.blobs, keeping, now))
    await repair_descriptors(app.db, app.blobs, now)
    if with_sweep:
        done["orphans"] = await record_orphans(app.db, app.blobs, keeping.raw, now)
        done["objects"] += await delete_garbage(app.db, app.blobs)
    return done


async def _foresee(app: App, with_sweep: bool) -> dict[str, int]:
    now, keeping = datetime.now(UTC), retention_periods(app.settings)
    done = asdict(await preview_purge(app.db, keeping, now))
    if with_sweep:
        done["orphans"] = sum([len(lot) async for lot in find_orphans(app.db, app.blobs, keeping.raw, now)])
        done["objects"] += done["orphans"]
    return done


def _tell(done: dict[str, int], verb: str) -> None:
    click.echo(f"{verb}:")
    for name, words in LABELS.items():
        if name in done:
            click.echo(f"{done[name]:>10}  {words}")
