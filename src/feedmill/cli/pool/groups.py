"""`feedmill pool`: create, change, list, show, pause and delete pool groups."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from feedmill.cli.actions.complete_names import complete_pool_group
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_table import print_table
from feedmill.cli.output.print_text import print_text
from feedmill.cli.pool.grants import grant, revoke
from feedmill.cli.pool.group_options import LOSS, OPTIONS, RULE, given_loss, given_options, given_rule, with_options
from feedmill.cli.pool.import_texts import import_texts
from feedmill.cli.pool.items import ack, drain, items, lease, lost, nack, pop, requeue
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_pools import OpenedPools, run_with_pools
from feedmill.model.pool import LossPolicy, OnLoss, PoolGroup, PoolKind, PoolOptions, PoolRight, PoolRule
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.pools.pool import Pool
from feedmill.pools.rules import is_in_folder
from feedmill.pools.source_tables import read_source_table, take_new_rows
from feedmill.store.pools.rule_sources import missing_feed_ids, operator_folders

COLUMNS = (
    "id",
    "name",
    "kind",
    "guarantee",
    "available",
    "queued",
    "leased",
    "used",
    "dead",
    "held",
    "in list",
    "state",
    "takers",
)
WHICH_FOLDERS = "folders are those of 'feedmill add --folder' and of the feeds file, not those of users"


@click.group()
def pool() -> None:
    """Hand entries on to other programs: groups by rule, each with a pool of titles and one of contents."""


for _command in (grant, revoke, import_texts, pop, lease, ack, nack, lost, items, requeue, drain):
    pool.add_command(_command)


@pool.command(short_help="Create the group NAME of the entries that match a rule.")
@click.argument("name")
@with_options((*RULE, *OPTIONS, *LOSS))
@pass_context
def create(context: Context, /, name: str, **given: Any) -> None:
    """Create the group NAME of the entries that match a rule, existing and future ones."""
    run_with_pools(context.quiet_settings, lambda opened: _create(opened, name, given))


@pool.command(short_help="Change the rule or the options of the group NAME.")
@click.argument("name", shell_complete=complete_pool_group)
@click.option("--name", "new_name", help="The new name.")
@with_options((*RULE, *OPTIONS, *LOSS))
@pass_context
def change(context: Context, /, name: str, new_name: str | None, **given: Any) -> None:
    """Change the group NAME (or id): each option that is given replaces the previous value.

    Items that are already in its pools stay there.
    """
    run_with_pools(context.quiet_settings, lambda opened: _change(opened, name, new_name, given))


@pool.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@pass_context
def list_groups(context: Context, as_json: bool) -> None:
    """List the groups, the counts of their pools, and who may take from them besides admins."""
    records = run_with_pools(context.quiet_settings, _records)
    if as_json:
        for record in records:
            print_record(record)
    elif records:
        print_table(COLUMNS, [_row(record, kind) for record in records for kind in PoolKind], wide=("name", "takers"))
    else:
        print_text("there are no pool groups yet: 'feedmill pool create NAME' creates one")


@pool.command()
@click.argument("name", shell_complete=complete_pool_group)
@pass_context
def show(context: Context, name: str) -> None:
    """Print the group NAME as JSON: its rule, its options, its counts."""
    print_record(run_with_pools(context.quiet_settings, lambda opened: _record_named(opened, name)))


@pool.command()
@click.argument("name", shell_complete=complete_pool_group)
@pass_context
def pause(context: Context, name: str) -> None:
    """Stop handing out items of the group NAME; new entries still join it. Redis lists are not changed."""
    run_with_pools(context.quiet_settings, lambda opened: opened.pools.change(name, paused=True))
    print_text(f"paused {name}: 'feedmill pool resume {name}' resumes it")


@pool.command()
@click.argument("name", shell_complete=complete_pool_group)
@pass_context
def resume(context: Context, name: str) -> None:
    """Hand out items of the group NAME again."""
    run_with_pools(context.quiet_settings, lambda opened: opened.pools.change(name, paused=False))
    print_text(f"resumed {name}")


@pool.command()
@click.argument("name", shell_complete=complete_pool_group)
@click.confirmation_option(prompt="Its items and who used them are forgotten. Delete the group?")
@pass_context
def delete(context: Context, name: str) -> None:
    """Delete the group NAME with all its items; entries stay."""
    run_with_pools(context.quiet_settings, lambda opened: opened.pools.delete(name))
    print_text(f"deleted {name}")


async def _create(opened: OpenedPools, name: str, given: dict[str, Any]) -> None:
    titles, contents = (given_options(PoolOptions(), kind, given) for kind in PoolKind)
    loss = given_loss(LossPolicy(), given)
    group = await opened.pools.create(name, given_rule(PoolRule(), given), titles, contents, loss=loss)
    await _print_counts(opened, group)


async def _change(opened: OpenedPools, name: str, new_name: str | None, given: dict[str, Any]) -> None:
    group = await opened.pools.group(name)
    titles, contents = (given_options(group.options(kind), kind, given) for kind in PoolKind)
    rule, loss = given_rule(group.rule, given), given_loss(group.loss, given)
    changed = await opened.pools.change(
        group.id, name=new_name or group.name, rule=rule, titles=titles, contents=contents, loss=loss
    )
    await _print_counts(opened, changed)


async def _print_counts(opened: OpenedPools, group: PoolGroup) -> None:
    await opened.pools.gatherer.catch_up(datetime.now(UTC))
    for kind in PoolKind:
        await read_source_table(opened.pools.tools, Pool(group, kind), take_new_rows)
    counts = [(await opened.pools.status(group.id, kind)).counts.total for kind in PoolKind]
    print_text(f"{group.id} {group.name}: {counts[0]} titles, {counts[1]} contents")
    await _print_missing_sources(opened, group.rule)


async def _print_missing_sources(opened: OpenedPools, rule: PoolRule) -> None:
    """Names the feeds and folders of the rule that there are not: nothing comes from them."""
    for feed_id in await missing_feed_ids(opened.db, rule.feeds):
        print_text(f"there is no feed {feed_id}", err=True)
    folders = await operator_folders(opened.db) if rule.folders else []
    for folder in rule.folders:
        if not any(is_in_folder(names, folder) for names in folders):
            print_text(f"no feed is in the folder {folder} yet: {WHICH_FOLDERS}", err=True)


async def _records(opened: OpenedPools) -> list[dict[str, Any]]:
    return [await _record(opened, group) for group in await opened.pools.groups()]


async def _record_named(opened: OpenedPools, name: str) -> dict[str, Any]:
    return await _record(opened, await opened.pools.group(name))


async def _record(opened: OpenedPools, group: PoolGroup) -> dict[str, Any]:
    rule = asdict(group.rule) | {"since": iso_or_none(group.rule.since)}
    record = {"id": group.id, "name": group.name, "paused": group.paused, "created_at": to_iso(group.created_at)}
    grants = await opened.pools.grants(group)
    takers, fillers = ([grant.user_name for grant in grants if grant.right is right] for right in PoolRight)
    pools: dict[str, Any] = {}
    for kind in PoolKind:
        status = await opened.pools.status(group.id, kind)
        problem = str(status.source_problem) if status.source_problem else None
        found = asdict(status) | {"rpop_seen_at": iso_or_none(status.rpop_seen_at), "source_problem": problem}
        counts = found.pop("counts")
        pools[kind] = asdict(group.options(kind)) | found | counts
    return record | {"takers": takers, "fillers": fillers, "rule": rule} | asdict(group.loss) | pools


def _row(record: dict[str, Any], kind: PoolKind) -> tuple[str, ...]:
    details = record[kind]
    counts = [str(details[name]) for name in ("available", "queued", "leased", "used", "dead", "held")]
    in_list = "-" if details["in_list"] is None else str(details["in_list"])
    return (
        str(record["id"]),
        record["name"],
        kind,
        details["guarantee"],
        *counts,
        in_list,
        _state(record, details),
        ", ".join(record["takers"]) or "-",
    )


def _state(record: dict[str, Any], details: dict[str, Any]) -> str:
    """What an operator should know first about a pool."""
    if record["paused"]:
        return "paused"
    if details["held"]:
        return "held back" if record["on_loss"] == OnLoss.HOLD else "release follows"
    if details["is_list_lost"]:
        return "list lost"
    return "table unreadable" if details["source_problem"] else "ok"
