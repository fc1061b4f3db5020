"""The options of `feedmill filter` that say which entries a filter is about and what it does with them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from feedmill.cli.actions.find_feed import find_feed, read_id
from feedmill.cli.actions.find_user import find_user
from feedmill.errors import CallerError
from feedmill.library.entries.labels import ensure_label
from feedmill.library.filters.manage_filters import fillable_groups
from feedmill.library.subscriptions.folders import folder_paths, folders_of_user
from feedmill.library.subscriptions.lookup import find_subscription_of_feed
from feedmill.model.filters.entry_filter import ALL_FEEDS, FilterActions, FilterScope, ScopeKind
from feedmill.model.user import Caller
from feedmill.store.database import Database
from feedmill.store.services.services import services_of

Command = TypeVar("Command", bound=Callable[..., Any])

# fmt: off
SCOPE = (
    click.option("--feed", metavar="ID|URL", help="Only entries of this feed."),
    click.option("--folder", metavar="PATH", help="Only entries of feeds in this folder, such as News/Local."),
)
ACTIONS = (
    click.option("--read", is_flag=True, help="Mark as read."),
    click.option("--star", is_flag=True, help="Star."),
    click.option("--later", is_flag=True, help="Put into read later."),
    click.option("--hide", is_flag=True, help="Keep out of unread lists, without marking as read."),
    click.option("--raise", "raise_to_top", is_flag=True, help="Show first in unread lists."),
    click.option("--notify", is_flag=True, help="Call webhooks, and send notifications."),
    click.option("--full-text", is_flag=True, help="Fetch the full text."),
    click.option("--label", "labels", multiple=True, metavar="NAME", help="Add this label; made if there is none."),
    click.option("--save", "services", multiple=True, metavar="SERVICE", help="Save to this service of USER."),
    click.option("--pool", "pools", multiple=True, metavar="GROUP", help="Send to the pools of this group."),
)
UNTIL = click.option("--until", type=click.DateTime(), help="It ends at this time (UTC).")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
# fmt: on


@dataclass(frozen=True, slots=True)
class ChosenActions:
    """The actions as they were named on the command line."""

    flags: dict[str, Any]
    labels: tuple[str, ...]
    pools: tuple[str, ...]
    services: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (any(self.flags.values()) or self.labels or self.pools or self.services)

    async def resolve(self, db: Database, who: Caller) -> FilterActions:
        """The actions with the ids of their labels, groups and services; labels that are missing are made."""
        groups = tuple([await _group_id(db, who, name) for name in self.pools])
        services = tuple([await _service_id(db, who, name) for name in self.services])
        labels = tuple([await ensure_label(db, who.user.id, name) for name in self.labels])
        return replace(FilterActions(**self.flags), label_ids=labels, pool_group_ids=groups, service_ids=services)


def with_scope(command: Command) -> Command:
    for option in reversed(SCOPE):
        command = option(command)
    return command


def with_actions(command: Command) -> Command:
    for option in reversed(ACTIONS):
        command = option(command)
    return command


def chosen_actions(given: dict[str, Any]) -> ChosenActions:
    """Takes the actions out of the parameters of a command."""
    labels, pools, services = given.pop("labels"), given.pop("pools"), given.pop("services")
    flags = {name: given.pop(name) for name in ("read", "star", "later", "hide", "raise_to_top", "notify", "full_text")}
    return ChosenActions(flags, labels, pools, services)


def utc_time(until: datetime | None) -> datetime | None:
    return until.replace(tzinfo=UTC) if until else None


async def caller_of(db: Database, name: str) -> Caller:
    found = await find_user(db, name)
    return Caller(found, found.scopes)


async def find_scope(db: Database, user_id: int, feed: str | None, folder: str | None) -> FilterScope:
    """The feed or folder of the user that was named; all feeds if none was."""
    if feed and folder:
        raise CallerError("--feed and --folder can't be used together")
    if feed:
        found = await find_subscription_of_feed(db, user_id, (await find_feed(db, feed)).id)
        return FilterScope(ScopeKind.FEED, found.id)
    return FilterScope(ScopeKind.FOLDER, await _folder_id(db, user_id, folder)) if folder else ALL_FEEDS


async def _folder_id(db: Database, user_id: int, name: str) -> int:
    paths = {"/".join(path): id for id, path in folder_paths(await folders_of_user(db, user_id)).items()}
    if name not in paths:
        known = ", ".join(sorted(paths)) or "none"
        raise CallerError(f"there is no folder {name}; there are: {known}")
    return paths[name]


async def _group_id(db: Database, who: Caller, name: str) -> int:
    groups = await fillable_groups(db, who)
    for group in groups:
        if name == group.name or read_id(name) == group.id:
            return group.id
    raise CallerError(f"{who.user.name} can fill no pool group {name}: 'feedmill pool grant --fill' grants it")


async def _service_id(db: Database, who: Caller, name: str) -> int:
    services = await services_of(db, who.user.id)
    for service in services:
        if name == service.name:
            return service.id
    known = ", ".join(service.name for service in services) or "none"
    raise CallerError(f"{who.user.name} has no service {name}; there are: {known}")
