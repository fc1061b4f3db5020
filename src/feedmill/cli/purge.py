"""`feedmill purge`: delete expired data, as a server does every day."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

import click

from feedmill.adapters.object_store import object_store_config
from feedmill.app import App
from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.orphans import find_orphans, record_orphans
from feedmill.archive.purge import delete_garbage, lifecycle_rule, preview_purge, retention_periods
from feedmill.archive.purge import purge as purge_all
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
@click.option("--dry-run", is_flag=True, help="Only print what would be deleted.")
@click.option("--sweep", "with_sweep", is_flag=True, help="Also search the whole object store for orphans.")
@click.option(
    "--lifecycle", is_flag=True, help="Only print a lifecycle rule by which a bucket deletes raw bodies itself."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def purge(context: Context, dry_run: bool, with_sweep: bool, lifecycle: bool, as_json: bool) -> None:
    """Delete expired data; a server does this every day, and the sweep every week.

    Entries are deleted retention_days after they left their feed (starred, labelled and read-later ones stay), raw
    bodies after raw_days, the fetch log after 30 days.
    """
    settings = context.quiet_settings
    if lifecycle:
        click.echo(json.dumps(lifecycle_rule(object_store_config(settings), settings.raw_days), indent=2))
        return
    work = _preview if dry_run else _purge
    counts = run_with_app(settings, lambda app: work(app, with_sweep))
    if as_json:
        click.echo(json.dumps(counts))
    else:
        _print_counts(counts, "would drop" if dry_run else "dropped")


async def _purge(app: App, with_sweep: bool) -> dict[str, int]:
    now, periods = datetime.now(UTC), retention_periods(app.settings)
    await ensure_store_ownership(app.db, app.blobs)
    counts = asdict(await purge_all(app.db, app.blobs, periods, now))
    await repair_descriptors(app.db, app.blobs, now)
    if with_sweep:
        counts["orphans"] = await record_orphans(app.db, app.blobs, periods.raw, now)
        counts["objects"] += await delete_garbage(app.db, app.blobs)
    return counts


async def _preview(app: App, with_sweep: bool) -> dict[str, int]:
    now, periods = datetime.now(UTC), retention_periods(app.settings)
    counts = asdict(await preview_purge(app.db, periods, now))
    if with_sweep:
        counts["orphans"] = sum([len(chunk) async for chunk in find_orphans(app.db, app.blobs, periods.raw, now)])
        counts["objects"] += counts["orphans"]
    return counts


def _print_counts(counts: dict[str, int], verb: str) -> None:
    click.echo(f"{verb}:")
    for name, label in LABELS.items():
        if name in counts:
            click.echo(f"{counts[name]:>10}  {label}")
