"""`feedmill pool`: groups of entries that are handed on to other programs."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.pool_items import ack, drain, items, lease, lost, nack, pop, requeue
from feedmill.cli.records import print_record
from feedmill.cli.say import say
from feedmill.cli.tables import print_table
from feedmill.cli.world import run
from feedmill.model.pool import Form, Group, Guarantee, Kind, PoolOptions, Rule
from feedmill.model.times import text_or_none, to_text

COLUMNS = ("id", "name", "kind", "guarantee", "available", "queued", "leased", "used", "dead", "in list", "state")
Command = TypeVar("Command", bound=Callable[..., Any])

# fmt: off
RULE = (
    click.option("--feed", "feeds", type=int, multiple=True, help="Entries of this feed (id)."),
    click.option("--folder", "folders", multiple=True, metavar="PATH", help="Entries of feeds in this folder, too."),
    click.option("--label", "labels", multiple=True, help="Entries that somebody gave this label."),
    click.option("--word", "words", multiple=True, help="Entries that say this in their title or text."),
    click.option("--without", multiple=True, metavar="WORD", help="Not those that say this."),
    click.option("--language", help="Entries in this language, such as en or zh-CN."),
    click.option("--min-length", type=int, help="Entries with a text of at least so many characters."),
    click.option("--since", type=click.DateTime(), help="Entries from then on (UTC)."),
)
OPTIONS = (
    click.option("--kind", type=click.Choice([one.value for one in Kind]), help="The pool that is meant; else both."),
    click.option("--guarantee", type=click.Choice([one.value for one in Guarantee]), help="How items are handed out."),
    click.option("--size", type=click.IntRange(1, 1_000_000), help="How many items the Redis list holds when full."),
    click.option("--refill-below", type=click.IntRange(1), help="The list is filled up when it has fewer."),
    click.option("--lease-seconds", type=click.IntRange(1), help="How long a lease lasts."),
    click.option("--most-attempts", type=click.IntRange(1), help="After so many leases an item is set aside."),
    click.option("--form", type=click.Choice([one.value for one in Form]), help="What contents are handed out as."),
    click.option("--most-in-list", type=click.IntRange(1), help="A longer text stands in the list by reference."),
)
# fmt: on


def _with(options: tuple[Any, ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.group()
def pool() -> None:
    """Hand entries on to other programs: groups by rule, each with a pool of titles and one of contents."""


for _command in (pop, lease, ack, nack, lost, items, requeue, drain):
    pool.add_command(_command)


@pool.command(short_help="Make a group NAME of the entries that a rule wants.")
@click.argument("name")
@_with((*RULE, *OPTIONS))
@pass_context
def create(context: Context, /, name: str, **given: Any) -> None:
    """Make a group NAME of the entries that a rule wants, those there are and those to come."""
    run(context.quiet_settings, lambda app: _create(app, name, given))


@pool.command(short_help="Change the rule or the options of the group NAME.")
@click.argument("name")
@click.option("--name", "new_name", help="Call it this.")
@_with((*RULE, *OPTIONS))
@pass_context
def change(context: Context, /, name: str, new_name: str | None, **given: Any) -> None:
    """Change the group NAME (or id): each option that is given replaces what was said before.

    Items that are in its pools already stay in them.
    """
    run(context.quiet_settings, lambda app: _change(app, name, new_name, given))


@pool.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@pass_context
def list_groups(context: Context, as_json: bool) -> None:
    """List the groups and how full their pools are."""
    records = run(context.quiet_settings, _records)
    if as_json:
        for record in records:
            print_record(record)
    elif records:
        print_table(COLUMNS, [_row(record, kind) for record in records for kind in Kind], wide=("name",))
    else:
        say("there are no pool groups yet: 'feedmill pool create NAME' makes one")


@pool.command()
@click.argument("name")
@pass_context
def show(context: Context, name: str) -> None:
    """Print the group NAME as JSON: its rule, its options, its counts."""
    print_record(run(context.quiet_settings, lambda app: _record_named(app, name)))


@pool.command()
@click.argument("name")
@pass_context
def pause(context: Context, name: str) -> None:
    """Hand out nothing of the group NAME; entries still join it. What is in Redis lists stays there."""
    run(context.quiet_settings, lambda app: app.pools.change(name, paused=True))
    say(f"paused {name}: 'feedmill pool resume {name}' goes on")


@pool.command()
@click.argument("name")
@pass_context
def resume(context: Context, name: str) -> None:
    """Hand out again what the group NAME has."""
    run(context.quiet_settings, lambda app: app.pools.change(name, paused=False))
    say(f"resumed {name}")


@pool.command()
@click.argument("name")
@click.confirmation_option(prompt="Its items and who used them are forgotten. Delete the group?")
@pass_context
def delete(context: Context, name: str) -> None:
    """Delete the group NAME with all its items; entries stay."""
    run(context.quiet_settings, lambda app: app.pools.delete(name))
    say(f"deleted {name}")


async def _create(app: App, name: str, given: dict[str, Any]) -> None:
    titles, contents = (_options(PoolOptions(), kind, given) for kind in Kind)
    group = await app.pools.create(name, _rule(Rule(), given), titles, contents)
    await _tell(app, group)


async def _change(app: App, name: str, new_name: str | None, given: dict[str, Any]) -> None:
    group = await app.pools.group(name)
    titles, contents = (_options(group.options(kind), kind, given) for kind in Kind)
    rule = _rule(group.rule, given)
    changed = await app.pools.change(group.id, name=new_name or group.name, rule=rule, titles=titles, contents=contents)
    await _tell(app, changed)


async def _tell(app: App, group: Group) -> None:
    await app.pools.gatherer.catch_up(datetime.now(UTC))
    counts = [(await app.pools.status(group.id, kind)).counts.total for kind in Kind]
    say(f"{group.id} {group.name}: {counts[0]} titles, {counts[1]} contents")


def _rule(rule: Rule, given: dict[str, Any]) -> Rule:
    names = ("feeds", "folders", "labels", "words", "without", "language", "min_length", "since")
    changes = {name: given[name] for name in names if given[name]}
    if "since" in changes:
        changes["since"] = changes["since"].replace(tzinfo=UTC)
    return replace(rule, **changes)


def _options(options: PoolOptions, kind: Kind, given: dict[str, Any]) -> PoolOptions:
    if given["kind"] not in (None, kind):
        return options
    changes = {name: given[name] for name in PoolOptions.__slots__ if given[name] is not None}
    words: dict[str, Callable[[str], Any]] = {"guarantee": Guarantee, "form": Form}
    return replace(options, **{name: words.get(name, int)(value) for name, value in changes.items()})


async def _records(app: App) -> list[dict[str, Any]]:
    return [await _record(app, group) for group in await app.pools.groups()]


async def _record_named(app: App, name: str) -> dict[str, Any]:
    return await _record(app, await app.pools.group(name))


async def _record(app: App, group: Group) -> dict[str, Any]:
    rule = asdict(group.rule) | {"since": text_or_none(group.rule.since)}
    record = {"id": group.id, "name": group.name, "paused": group.paused, "created_at": to_text(group.created_at)}
    pools: dict[str, Any] = {}
    for kind in Kind:
        status = await app.pools.status(group.id, kind)
        told = asdict(group.options(kind)) | {"in_list": status.in_list, "filled_by": status.filled_by}
        pools[kind] = told | asdict(status.counts)
    return record | {"rule": rule} | pools


def _row(record: dict[str, Any], kind: Kind) -> tuple[str, ...]:
    told = record[kind]
    counts = [str(told[name]) for name in ("available", "queued", "leased", "used", "dead")]
    in_list = "-" if told["in_list"] is None else str(told["in_list"])
    state = "paused" if record["paused"] else "ok"
    return (str(record["id"]), record["name"], kind, told["guarantee"], *counts, in_list, state)
