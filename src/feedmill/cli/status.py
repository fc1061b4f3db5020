"""`feedmill status`: count feeds, entries, images and pool items; list running processes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from feedmill.adapters.coordination import connect_coordination
from feedmill.cli.output.format_text import format_size, pluralize
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.relative_times import time_ago, time_until
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.coordination.presence import RunningProcess
from feedmill.errors import CoordinationUnavailable
from feedmill.model.timestamps import datetime_or_none
from feedmill.serve.data_lock import lock_holder
from feedmill.settings import Settings
from feedmill.store.admin.instance_overview import Overview, read_overview
from feedmill.store.database import Database

NEVER = "never"
MILLISECOND = timedelta(milliseconds=1)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def status(context: Context, as_json: bool) -> None:
    """Show counts of feeds, entries, images and pool items, the storage they use, and the running processes."""
    settings = context.quiet_settings
    now = datetime.now(UTC)
    found, processes = run_with_database(settings, lambda db: _read(db, settings, now))
    server = lock_holder(settings.data)
    if as_json:
        running = {"running": server is not None, "process": server}
        print_record(asdict(found) | {"server": running, "processes": _as_records(processes)})
        return
    for name, text in _lines(found, now, settings.images_total_bytes).items():
        click.echo(f"{name:<9} {text}")
    if settings.redis.get_secret_value():
        click.echo(f"processes {_format_processes(processes)}")
    else:
        running_here = f"runs (process {server})" if server is not None else f"none runs on {settings.data}"
        click.echo(f"{'server':<9} {running_here}")


async def _read(db: Database, settings: Settings, now: datetime) -> tuple[Overview, Sequence[RunningProcess] | None]:
    """The counts, and the processes that share a Redis; None for these when Redis does not answer."""
    found = await read_overview(db, now)
    try:
        async with connect_coordination(settings) as coordination:
            return found, await coordination.presence.processes()
    except CoordinationUnavailable:
        return found, None


def _as_records(processes: Sequence[RunningProcess] | None) -> list[dict[str, Any]] | None:
    if processes is None:
        return None
    return [
        {"role": process.role, "name": process.name, "seen_ms_ago": round(process.ago / MILLISECOND)}
        for process in processes
    ]


def _format_processes(processes: Sequence[RunningProcess] | None) -> str:
    if processes is None:
        return "unknown: Redis, where they show themselves, does not answer"
    if not processes:
        return "none has shown itself in the last 15 s"
    roles = Counter(process.role for process in processes)
    names = {role: ", ".join(process.name for process in processes if process.role == role) for role in roles}
    return "; ".join(f"{number} {role} ({names[role]})" for role, number in roles.items())


def _lines(found: Overview, now: datetime, limit: int) -> dict[str, str]:
    states = ("due", "running", "unattended", "failing", "error", "disabled", "resting", "new")
    last, following = datetime_or_none(found.last_fetched_at), datetime_or_none(found.next_fetch_at)
    kept = f"{pluralize(found.raw_bodies, 'raw body', 'raw bodies')}, {found.objects_to_delete} to delete"
    return {
        "feeds": f"{found.feeds['total']}: {_list(found.feeds, *states)}",
        "fetched": f"last {time_ago(last, now) if last else NEVER}; "
        f"next {time_until(following, now) if following else NEVER}",
        "entries": str(found.entries),
        "images": _list(found.images, *found.images) + _image_storage(found.image_bytes, limit),
        **{kind: f"pool: {_list(items, *items)}" for kind, items in found.pools.items()},
        "database": _size(found.database_bytes),
        "objects": f"{_size(found.object_bytes)}, {kept}",
    }


def _list(counts: dict[str, Any], *names: str) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in names)


def _image_storage(used: int, limit: int) -> str:
    """How much of the storage limit for images is used, if there is a limit."""
    full = ": FULL, the pending ones wait (images_total_bytes)" if used >= limit else ""
    return f"; {_size(used)} of {_size(limit)}{full}" if limit else ""


def _size(length: int | None) -> str:
    return "size unknown" if length is None else format_size(length)
