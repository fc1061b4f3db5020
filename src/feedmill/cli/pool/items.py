"""`feedmill pool pop`, `lease`, `ack`, `lost` and other commands on items."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import click

from feedmill.cli.actions.complete_names import complete_pool_group
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_pools import OpenedPools, run_with_pools
from feedmill.model.pool import PoolItemState, PoolKind, PoolLease
from feedmill.model.timestamps import to_iso
from feedmill.pools.audit_queued_items import MIN_QUEUED_AGE
from feedmill.pools.lost_items import LostItemSearch

KINDS = click.Choice([one.value for one in PoolKind])
STATES = {state.name.lower(): state for state in PoolItemState}


@click.command()
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("kind", type=KINDS)
@click.option("-n", "limit", default=1, type=click.IntRange(1, 1000), help="How many at most.")
@click.option("--who", default="", help="Who takes them, for the record.")
@pass_context
def pop(context: Context, name: str, kind: str, limit: int, who: str) -> None:
    """Take items of the group NAME for good, one JSON object per line. Exit code 2 and pool_empty if there are none."""
    for item in run_with_pools(
        context.quiet_settings, lambda opened: opened.pools.pop(name, PoolKind(kind), limit, who)
    ):
        print_record({"id": item.id, "text": item.text})


@click.command(short_help="Lease items of the group NAME for a while.")
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("kind", type=KINDS)
@click.option("-n", "limit", default=1, type=click.IntRange(1, 1000), help="How many at most.")
@click.option("--who", default="", help="Who takes them, for the record.")
@click.option("--seconds", type=click.IntRange(1), help="For how long; by default the pool's lease time.")
@pass_context
def lease(context: Context, name: str, kind: str, limit: int, who: str, seconds: int | None) -> None:
    """Lease items of the group NAME; with the token they are acknowledged or given back."""
    length = timedelta(seconds=seconds) if seconds else None
    leased = run_with_pools(
        context.quiet_settings, lambda opened: opened.pools.lease(name, PoolKind(kind), limit, who, length)
    )
    for record in _leased(leased):
        print_record(record)


def _leased_items_command(command: Callable[..., None]) -> click.Command:
    """A command on leased items: the arguments of `ack` and `nack`."""
    for argument in (
        click.argument("ids", type=int, nargs=-1, required=True),
        click.argument("token"),
        click.argument("kind", type=KINDS),
        click.argument("name", shell_complete=complete_pool_group),
    ):
        command = argument(command)
    return click.command()(command)


@_leased_items_command
@pass_context
def ack(context: Context, name: str, kind: str, token: str, ids: tuple[int, ...]) -> None:
    """Acknowledge leased items as used."""
    count = run_with_pools(context.quiet_settings, lambda opened: opened.pools.ack(name, PoolKind(kind), token, ids))
    print_text(f"{count} of {len(ids)} acknowledged")


@_leased_items_command
@pass_context
def nack(context: Context, name: str, kind: str, token: str, ids: tuple[int, ...]) -> None:
    """Give leased items back; they are handed out next."""
    count = run_with_pools(context.quiet_settings, lambda opened: opened.pools.nack(name, PoolKind(kind), token, ids))
    print_text(f"{count} of {len(ids)} given back")


@click.command(short_help="List items that are held back, or queued and in no Redis list.")
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("kind", type=KINDS)
@click.option("--release", "verb", flag_value="release", help="Make them available again; some may have been used.")
@click.option("--settle", "verb", flag_value="settle", help="Mark them as used.")
@click.option(
    "--older", default=int(MIN_QUEUED_AGE.total_seconds()), metavar="SECONDS", help="Queued for at least this long."
)
@pass_context
def lost(context: Context, name: str, kind: str, verb: str | None, older: int) -> None:
    """List items that are held back, or queued and in no Redis list: a crash left them, or a program used them without
    a report.

    They are only changed with --release or --settle. Checks twice, a few seconds apart.
    """
    search = LostItemSearch(timedelta(seconds=older))
    run_with_pools(context.quiet_settings, lambda opened: _lost(opened, name, PoolKind(kind), search, verb))


@click.command(short_help="List items in one state, the last changed first.")
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("kind", type=KINDS)
@click.argument("state", type=click.Choice(list(STATES)))
@click.option("-n", "limit", default=100, type=click.IntRange(1), help="How many at most.")
@pass_context
def items(context: Context, name: str, kind: str, state: str, limit: int) -> None:
    """List items in one state, the last changed first: who has them, since when, how many attempts."""
    for item in run_with_pools(
        context.quiet_settings, lambda opened: opened.pools.items(name, PoolKind(kind), STATES[state], limit)
    ):
        print_record(asdict(item) | {"changed_at": to_iso(item.changed_at)})


@click.command()
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("kind", type=KINDS)
@click.option("--used", is_flag=True, help="Used items instead of dead ones.")
@click.option("--id", "ids", type=int, multiple=True, help="Only this item.")
@pass_context
def requeue(context: Context, name: str, kind: str, used: bool, ids: tuple[int, ...]) -> None:
    """Make dead items available again."""
    state = PoolItemState.USED if used else PoolItemState.DEAD
    count = run_with_pools(
        context.quiet_settings, lambda opened: opened.pools.requeue(name, PoolKind(kind), state, ids or None)
    )
    print_text(f"{count} available again")


@click.command(short_help="Make the items in the Redis list available again.")
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("kind", type=KINDS)
@pass_context
def drain(context: Context, name: str, kind: str) -> None:
    """Take everything out of the Redis list and make it available again; pause the group first."""
    drained = run_with_pools(context.quiet_settings, lambda opened: opened.pools.drain(name, PoolKind(kind)))
    print_text(f"{drained} available again")


async def _lost(opened: OpenedPools, name: str, kind: PoolKind, search: LostItemSearch, verb: str | None) -> None:
    if verb == "release":
        print_text(f"{await opened.pools.release_lost(name, kind, search)} available again")
    elif verb == "settle":
        print_text(f"{await opened.pools.settle_lost(name, kind, search)} marked as used")
    else:
        for item in await opened.pools.lost(name, kind, search):
            at = to_iso(item.queued_at)
            print_record(asdict(item) | {"queued_at": at})


def _leased(leased: PoolLease) -> list[dict[str, Any]]:
    same = {"token": leased.token, "until": to_iso(leased.until)}
    pairs = zip(leased.items, leased.attempts, strict=True)
    return [{"id": item.id, "text": item.text, "attempt": attempt} | same for item, attempt in pairs]
