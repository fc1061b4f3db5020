"""`feedmill status`: how the whole thing fares, in counts."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.records import print_record
from feedmill.cli.say import counted, sized
from feedmill.cli.world import run
from feedmill.collect.explain import ago, ahead
from feedmill.model.times import moment_or_none
from feedmill.serve.occupancy import occupant
from feedmill.store.overview import Overview, count_all

NEVER = "never"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def status(context: Context, as_json: bool) -> None:
    """Count feeds, entries, images and pool items, and say what they take up."""
    settings = context.quiet_settings
    now = datetime.now(UTC)
    found = run(settings, lambda app: _count(app, now))
    server = occupant(settings.data)
    if as_json:
        print_record(asdict(found) | {"server": {"running": server is not None, "process": server}})
        return
    for name, text in _lines(found, now, settings.images_total_bytes).items():
        click.echo(f"{name:<9} {text}")
    running = f"runs (process {server})" if server is not None else f"none runs on {settings.data}"
    click.echo(f"{'server':<9} {running}")


async def _count(app: App, now: datetime) -> Overview:
    return await count_all(app.db, now)


def _lines(found: Overview, now: datetime, room: int) -> dict[str, str]:
    states = ("due", "running", "failing", "error", "disabled", "resting", "new")
    last, following = moment_or_none(found.last_fetched_at), moment_or_none(found.next_fetch_at)
    kept = f"{counted(found.raw_bodies, 'raw body', 'raw bodies')}, {found.objects_to_delete} to delete"
    return {
        "feeds": f"{found.feeds['total']}: {_list(found.feeds, *states)}",
        "fetched": f"last {ago(last, now) if last else NEVER}; next {ahead(following, now) if following else NEVER}",
        "entries": str(found.entries),
        "images": _list(found.images, *found.images) + _room(found.image_bytes, room),
        **{kind: f"pool: {_list(items, *items)}" for kind, items in found.pools.items()},
        "database": _size(found.database_bytes),
        "objects": f"{_size(found.object_bytes)}, {kept}",
    }


def _list(counts: dict[str, Any], *names: str) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in names)


def _room(used: int, room: int) -> str:
    """How much of the room for images is used, if it is limited."""
    full = ": FULL, the pending ones wait (images_total_bytes)" if used >= room else ""
    return f"; {_size(used)} of {_size(room)}{full}" if room else ""


def _size(length: int | None) -> str:
    return "size unknown" if length is None else sized(length)
