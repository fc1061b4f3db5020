"""The options of `feedmill pool create` and `feedmill pool change`, and what they say."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from typing import Any, TypeVar

import click

from feedmill.library.users.manage_users import normalize_user_name
from feedmill.model.pool import ContentFormat, Guarantee, LossPolicy, OnLoss, PoolKind, PoolOptions, PoolRule

Command = TypeVar("Command", bound=Callable[..., Any])

# fmt: off
RULE = (
    click.option("--feed", "feeds", type=int, multiple=True, help="Entries of this feed (id)."),
    click.option("--folder", "folders", multiple=True, metavar="PATH",
                 help="Entries of feeds in this folder, too: of the operator's, not of a user's."),
    click.option("--label", "labels", multiple=True, help="Entries with this label of the account --labels-of."),
    click.option("--labels-of", metavar="USER", help="The account whose labels count; required with --label."),
    click.option("--word", "words", multiple=True, help="Entries with this word in their title or text."),
    click.option("--without", multiple=True, metavar="WORD", help="Not entries with this word."),
    click.option("--language", help="Entries in this language, such as en or zh-CN."),
    click.option("--min-length", type=int, help="Entries with a text of at least this many characters."),
    click.option("--entries/--no-entries", "entries", default=None, help="Entries by rule, or only texts of programs."),
    click.option("--since", type=click.DateTime(), help="Entries since this time (UTC)."),
)
OPTIONS = (
    click.option("--kind", type=click.Choice([*map(str, PoolKind)]), help="Only this pool; both by default."),
    click.option("--guarantee", type=click.Choice([*map(str, Guarantee)]), help="How items are handed out."),
    click.option("--size", type=click.IntRange(1, 1_000_000), help="The number of items in a full Redis list."),
    click.option("--refill-below", type=click.IntRange(1), help="The list is refilled when it has fewer items."),
    click.option("--lease-seconds", type=click.IntRange(1), help="How long a lease lasts."),
    click.option("--most-attempts", type=click.IntRange(1), help="After this many leases an item is dead."),
    click.option("--form", type=click.Choice([*map(str, ContentFormat)]), help="The format of contents."),
    click.option("--most-in-list", type=click.IntRange(1), help="A longer text is in the list as a reference."),
    click.option("--source-table", metavar="NAME",
                 help="A table or view of the database whose rows join the pool; '' for none."),
)
LOSS = (
    click.option("--on-loss", type=click.Choice([*map(str, OnLoss)]),
                 help="Items that a crash leaves in doubt: hold them for a decision, or release them later."),
    click.option("--release-after", "release_after_seconds", type=click.IntRange(1, 2_592_000), metavar="SECONDS",
                 help="How long items are held back with --on-loss release; 600 by default."),
    click.option("--others-rpop/--no-others-rpop", default=None,
                 help="Programs take from the Redis lists with RPOP. Noticed by itself within seconds."),
)
# fmt: on


def with_options(options: tuple[Any, ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def given_rule(rule: PoolRule, given: dict[str, Any]) -> PoolRule:
    names = ("feeds", "folders", "labels", "words", "without", "language", "min_length", "since", "labels_of")
    changes = {name: given[name] for name in names if given[name]}
    if "since" in changes:
        changes["since"] = changes["since"].replace(tzinfo=UTC)
    if "labels_of" in changes:
        changes["labels_of"] = normalize_user_name(changes["labels_of"])
    if given["entries"] is not None:
        changes["no_entries"] = not given["entries"]
    changed = replace(rule, **changes)
    is_about_labels = "labels" in changes or "labels_of" in changes
    if is_about_labels and bool(changed.labels) != bool(changed.labels_of):
        raise click.UsageError("a rule by label needs both --label and --labels-of")
    return changed


def given_options(options: PoolOptions, kind: PoolKind, given: dict[str, Any]) -> PoolOptions:
    if given["kind"] not in (None, kind):
        return options
    changes = {name: given[name] for name in PoolOptions.__slots__ if given[name] is not None}
    converters: dict[str, Callable[[str], Any]] = {"guarantee": Guarantee, "form": ContentFormat, "source_table": str}
    return replace(options, **{name: converters.get(name, int)(value) for name, value in changes.items()})


def given_loss(policy: LossPolicy, given: dict[str, Any]) -> LossPolicy:
    changes = {name: given[name] for name in LossPolicy.__slots__ if given[name] is not None}
    if "on_loss" in changes:
        changes["on_loss"] = OnLoss(changes["on_loss"])
    return replace(policy, **changes)
